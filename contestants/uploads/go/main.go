// A contestant of the suite uploads: one multipart upload per line on standard input, one JSON answer per line. WAY says
// how the file gets into the request.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
)

// uploader sends the file once per repetition, by one of its ways.
type uploader struct {
	client *http.Client
	url    string
	path   string
	keeps  bool // the connection for the next repetition
	buffer int  // bytes of a copy buffer, and of the pipe that splice goes through
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	log.SetFlags(0)
	if protocol := os.Getenv("PHOTOFINISH_PROTOCOL"); protocol != "" && protocol != "http/1.1" {
		log.Fatalf("PHOTOFINISH_PROTOCOL=%s: the manifest offers http/1.1 only", protocol)
	}
	size, err := strconv.Atoi(os.Getenv("PHOTOFINISH_BUFFER"))
	if err != nil || size < 1 {
		log.Fatalf("PHOTOFINISH_BUFFER=%q: give a number of bytes, at least 1", os.Getenv("PHOTOFINISH_BUFFER"))
	}
	transport := new(http.Transport)
	upload := &uploader{
		client: &http.Client{Transport: transport},
		url:    os.Getenv("PHOTOFINISH_URL"),
		path:   os.Getenv("PHOTOFINISH_FILE"),
		keeps:  os.Getenv("PHOTOFINISH_CONNECTION") != "new",
		buffer: size,
	}
	var repeat func() (answer, error)
	switch way := os.Getenv("WAY"); way {
	case "buffer":
		transport.WriteBufferSize = size
		repeat = upload.inMemory
	case "iopipe":
		transport.WriteBufferSize = size
		repeat = upload.ioPipe
	case "ospipe":
		transport.WriteBufferSize = size
		repeat = upload.osPipe
	case "multireader":
		repeat = upload.multiReader
	case "splice":
		if err := useSplice(transport); err != nil {
			log.Fatal(err)
		}
		repeat = upload.splice
	default:
		log.Fatalf("WAY=%q: there are buffer, iopipe, ospipe, multireader and splice", way)
	}
	if err := serveLines(os.Stdin, os.Stdout, os.Getenv("PHOTOFINISH_COUNT") == "1", repeat); err != nil {
		log.Fatal(err)
	}
}

// post sends a body of the given length (-1: unknown, so chunked) and reads the whole response. At the end of a
// response's body its connection is idle already, so that closing the idle ones closes it.
func (u *uploader) post(body io.Reader, length int64, contentType string) (status int, err error) {
	request, err := http.NewRequest(http.MethodPost, u.url, body)
	if err != nil {
		return 0, err
	}
	if length >= 0 {
		request.ContentLength = length
	}
	request.Header.Set("Content-Type", contentType)
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
