// A contestant of the suite clients: one download per line on standard input, one JSON answer per line.
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

// downloader fetches the URL once per call of discard or save.
type downloader struct {
	client      *http.Client
	url         string
	buffer      []byte
	closesAfter bool // each response, by CloseIdleConnections
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	log.SetFlags(0)
	size, err := strconv.Atoi(os.Getenv("PHOTOFINISH_BUFFER"))
	if err != nil || size < 1 {
		log.Fatalf("PHOTOFINISH_BUFFER=%q: give a number of bytes, at least 1", os.Getenv("PHOTOFINISH_BUFFER"))
	}
	transport := &http.Transport{ReadBufferSize: size, Protocols: new(http.Protocols)}
	fetch := &downloader{client: &http.Client{Transport: transport}, url: os.Getenv("PHOTOFINISH_URL"), buffer: make([]byte, size)}
	anew := os.Getenv("PHOTOFINISH_CONNECTION") == "new"
	switch protocol := os.Getenv("PHOTOFINISH_PROTOCOL"); protocol {
	case "", "http/1.1":
		transport.Protocols.SetHTTP1(true)
		fetch.closesAfter = anew
	case "h2":
		// A stream ends a little after its body does, so that its connection need not be idle by then; this setting
		// makes it serve one stream. HTTP/2 has no header field that would tell the server.
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.DisableKeepAlives = anew
	default:
		log.Fatalf("PHOTOFINISH_PROTOCOL=%s: there are http/1.1 and h2", protocol)
	}
	if err := serveLines(os.Stdin, os.Stdout, os.Getenv("PHOTOFINISH_COUNT") == "1", fetch); err != nil {
		log.Fatal(err)
	}
}

// counter counts the bytes that it hands on, or throws away where there is nobody to hand them to. It has no ReadFrom,
// which would bring a buffer of its own.
type counter struct {
	onward io.Writer
	bytes  int64
}

func (c *counter) Write(piece []byte) (int, error) {
	c.bytes += int64(len(piece))
	if c.onward == nil {
		return len(piece), nil
	}
	return c.onward.Write(piece)
}

// discard fetches the body and throws it away.
func (d *downloader) discard() (answer, error) {
	return d.fetch(new(counter))
}

// save fetches the body into a file.
func (d *downloader) save(path string) (answer, error) {
	file, err := os.Create(path)
	if err != nil {
		return answer{}, err
	}
	done, err := d.fetch(&counter{onward: file})
	return done, errors.Join(err, file.Close())
}

// fetch reads the whole body in pieces of the buffer's size. At the end of a body of HTTP/1.1 its connection is idle
// already, so that closing the idle ones closes it.
func (d *downloader) fetch(to *counter) (answer, error) {
	response, err := d.client.Get(d.url)
	if err != nil {
		return answer{}, err
	}
	_, err = io.CopyBuffer(to, response.Body, d.buffer)
	err = errors.Join(err, response.Body.Close())
	if d.closesAfter {
		d.client.CloseIdleConnections()
	}
	return answer{bytes: to.bytes, status: response.StatusCode}, err
}
