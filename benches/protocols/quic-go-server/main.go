// A plain HTTP/3 server on quic-go: GET /test/SIZE, bodies in memory, one processor.
//
//	quic-go-server ADDRESS:PORT CERTIFICATE KEY
package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/quic-go/quic-go/http3"
)

// sizes are the bodies that there are: paths as the origin has them, k and m binary.
var sizes = map[string]int{"1": 1, "100": 100, "10k": 10 << 10, "10m": 10 << 20}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("say ADDRESS:PORT CERTIFICATE KEY")
	}
	if err := serve(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func serve(address, certificate, key string) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for name, size := range sizes {
		body, length := bytes.Repeat([]byte("0"), size), strconv.Itoa(size)
		mux.HandleFunc("GET /test/"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", length)
			_, _ = w.Write(body) // who has gone needs no answer
		})
	}
	datagrams, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	config := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13})
	server := http3.Server{Handler: mux, TLSConfig: config}
	fmt.Printf("{\"event\":\"listening\",\"port\":%d}\n", datagrams.LocalAddr().(*net.UDPAddr).Port)
	return server.Serve(datagrams)
}
