// A contestant of the suite codings-clients: quic-go's HTTP/3.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"photofinish/codings-clients-go/fetch"
)

func main() {
	log.SetFlags(0)
	settings := fetch.FromEnvironment()
	client, err := newClient(settings)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Serve(settings); err != nil {
		log.Fatal(err)
	}
}

func newClient(settings fetch.Settings) (*fetch.Client, error) {
	if settings.Protocol != "h3" {
		return nil, fmt.Errorf("PHOTOFINISH_PROTOCOL=%s: only h3 can be asked for here", settings.Protocol)
	}
	config, err := settings.TLS()
	if err != nil {
		return nil, err
	}
	transport := &http3.Transport{
		TLSClientConfig:    config,
		QUICConfig:         &quic.Config{MaxIdleTimeout: 24 * time.Hour},
		DisableCompression: true,
	}
	client := &fetch.Client{Transport: transport}
	if settings.New {
		client.After = transport.CloseIdleConnections
	}
	return client, nil
}
