// A fasthttp server that answers GET / with "Hello World!".
package main

import (
	"log"
	"net"
	"os"

	"github.com/valyala/fasthttp"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatalf("usage: %s ADDRESS PORT", os.Args[0])
	}
	log.Fatal(fasthttp.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), hello))
}

func hello(request *fasthttp.RequestCtx) {
	request.SetContentType("text/plain")
	request.SetBodyString("Hello World!")
}
