// A contestant of the suite uploads: one multipart upload per line on standard input, one JSON answer per line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"

	"photofinish/sendform"
)

// uploader sends the file once per call of send.
type uploader struct {
	client *http.Client
	url    string
	path   string
	keeps  bool // the connection for the next repetition
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	log.SetFlags(0)
	if protocol := os.Getenv("PHOTOFINISH_PROTOCOL"); protocol != "" && protocol != "http/1.1" {
		log.Fatalf("PHOTOFINISH_PROTOCOL=%s: only http/1.1 hands the body to the connection", protocol)
	}
	base := new(http.Transport)
	upload := &uploader{
		url:   os.Getenv("PHOTOFINISH_URL"),
		path:  os.Getenv("PHOTOFINISH_FILE"),
		keeps: os.Getenv("PHOTOFINISH_CONNECTION") != "new",
	}
	var repeat func() (answer, error)
	switch way := os.Getenv("WAY"); way {
	case "", "sendform":
		upload.client = &http.Client{Transport: sendform.Transport(base)}
		repeat = upload.sendform
	case "generic":
		base.DialContext = dialGeneric
		upload.client = &http.Client{Transport: base}
		repeat = upload.generic
	default:
		log.Fatalf("WAY=%s: there are sendform and generic", way)
	}
	if err := serveLines(os.Stdin, os.Stdout, os.Getenv("PHOTOFINISH_COUNT") == "1", repeat); err != nil {
		log.Fatal(err)
	}
}

// sendform uploads by the module. What it claims to have sent is what sendfile took: should a release of Go no longer
// hand bodies to the connection, it claims nothing, and its trials are void.
func (u *uploader) sendform() (answer, error) {
	counts := new(sendform.Counts) // not shared: after an early answer, the last bytes may still be on their way
	form := sendform.Form{Counts: counts}
	form.File("file", u.path)
	request, err := form.Request(context.Background(), http.MethodPost, u.url)
	if err != nil {
		return answer{}, err
	}
	status, err := u.do(request)
	return answer{bytes: counts.Sendfile.Load(), status: status}, err
}

// do sends the request and reads the whole response. At the end of a response's body its connection is idle already, so
// that closing the idle ones closes it.
func (u *uploader) do(request *http.Request) (status int, err error) {
	response, err := u.client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	err = errors.Join(err, response.Body.Close())
	if !u.keeps {
		u.client.CloseIdleConnections()
	}
	return response.StatusCode, err
}
