// A net/http server that answers GET / with "Hello World!".
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	if len(os.Args) != 3 {
		log.Fatalf("usage: %s ADDRESS PORT (or: version)", os.Args[0])
	}
	http.HandleFunc("/", hello)
	log.Fatal(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), nil))
}

func hello(response http.ResponseWriter, _ *http.Request) {
	response.Header().Set("Content-Type", "text/plain")
	// A failed write means that the client has gone: there is nobody left to tell.
	_, _ = io.WriteString(response, "Hello World!")
}
