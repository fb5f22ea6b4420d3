// A contestant of the suite codings-clients: net/http over HTTP/1.1 and HTTP/2, clear or TLS.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"

	"photofinish/codings-clients-go/fetch"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
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
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	client := &fetch.Client{Transport: transport}
	var h2, secure bool
	switch settings.Protocol {
	case "http/1.1":
	case "http/1.1+tls":
		secure = true
	case "h2":
		h2 = true
	case "h2+tls":
		h2, secure = true, true
	default:
		return nil, fmt.Errorf("PHOTOFINISH_PROTOCOL=%s: there are http/1.1 and h2, each also with +tls", settings.Protocol)
	}
	if secure {
		var err error
		if transport.TLSClientConfig, err = settings.TLS(); err != nil {
			return nil, err
		}
	}
	transport.Protocols.SetHTTP1(!h2)
	transport.Protocols.SetHTTP2(h2 && secure)
	transport.Protocols.SetUnencryptedHTTP2(h2 && !secure)
	if settings.New && h2 {
		// A stream ends a little after its body does, so that its connection need not be idle by then; this setting
		// makes it serve one stream. HTTP/2 has no header field that would tell the server.
		transport.DisableKeepAlives = true
	} else if settings.New {
		client.After = transport.CloseIdleConnections
	}
	return client, nil
}
