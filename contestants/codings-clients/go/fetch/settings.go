// Package fetch holds what both clients of this folder share: settings, lines, decoding and parsing. The contract is in
// docs/contestants.md.
package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Settings are what the environment asks for.
type Settings struct {
	URL            string
	Protocol       string
	AcceptEncoding string
	// New asks for a connection of its own for each repetition.
	New bool
	// Count asks for the language's own counters in each answer.
	Count bool
	ca    string
}

// FromEnvironment reads the variables PHOTOFINISH_….
func FromEnvironment() Settings {
	return Settings{
		URL:            os.Getenv("PHOTOFINISH_URL"),
		Protocol:       os.Getenv("PHOTOFINISH_PROTOCOL"),
		AcceptEncoding: os.Getenv("PHOTOFINISH_ACCEPT_ENCODING"),
		New:            os.Getenv("PHOTOFINISH_CONNECTION") == "new",
		Count:          os.Getenv("PHOTOFINISH_COUNT") == "1",
		ca:             os.Getenv("PHOTOFINISH_CA"),
	}
}

// TLS trusts PHOTOFINISH_CA alone and speaks TLS 1.3 alone.
func (s Settings) TLS() (*tls.Config, error) {
	text, err := os.ReadFile(s.ca)
	if err != nil {
		return nil, fmt.Errorf("PHOTOFINISH_CA: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("PHOTOFINISH_CA=%s holds no certificate", s.ca)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, nil
}
