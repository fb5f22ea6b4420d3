// Servers of the standard library and quic-go: bodies in memory, coded anew for each request.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/quic-go/quic-go/http3"
)

// places is what the laboratory tells by the environment.
type places struct {
	plain, secured, certificate, key, corpus string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	where, err := told()
	if err != nil {
		log.Fatal(err)
	}
	bodies, err := load(where.corpus)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /patients/{count}", bodies)
	mux.Handle("GET /level/{level}/patients/{count}", bodies)
	if err := serve(where, mux); err != nil {
		log.Fatal(err)
	}
}

func told() (places, error) {
	const prefix = "PHOTOFINISH_"
	values := map[string]string{}
	for _, name := range []string{"ADDRESS", "PORT", "TLS_PORT", "CERTIFICATE", "KEY", "CORPUS"} {
		if values[name] = os.Getenv(prefix + name); values[name] == "" {
			return places{}, errors.New(prefix + name + " is not set")
		}
	}
	return places{
		plain:       net.JoinHostPort(values["ADDRESS"], values["PORT"]),
		secured:     net.JoinHostPort(values["ADDRESS"], values["TLS_PORT"]),
		certificate: values["CERTIFICATE"],
		key:         values["KEY"],
		corpus:      values["CORPUS"],
	}, nil
}

// serve listens on all three sockets, the clear one last, for that is the one that is asked whether all is ready;
// it returns when SIGTERM came, or one of the servers failed.
func serve(where places, handler http.Handler) error {
	certificate, err := tls.LoadX509KeyPair(where.certificate, where.key)
	if err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	plain := http.Server{Handler: handler, Protocols: both}
	secured := http.Server{Handler: handler, TLSConfig: config}
	quic := http3.Server{Handler: handler, TLSConfig: http3.ConfigureTLSConfig(config)}

	datagrams, err := net.ListenPacket("udp", where.secured)
	if err != nil {
		return err
	}
	encrypted, err := net.Listen("tcp", where.secured)
	if err != nil {
		return err
	}
	unencrypted, err := net.Listen("tcp", where.plain)
	if err != nil {
		return err
	}
	failed := make(chan error, 3)
	go func() { failed <- quic.Serve(datagrams) }()
	go func() { failed <- secured.ServeTLS(encrypted, "", "") }()
	go func() { failed <- plain.Serve(unencrypted) }()
	asked, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	select {
	case err := <-failed:
		return err
	case <-asked.Done():
		return nil
	}
}
