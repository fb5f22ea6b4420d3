package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// bodies answers with the records of the asked size, at the level in the path or each coding's own.
type bodies map[string][]byte

// buffers hold coded bodies while they are sent; each grows to the largest that it held.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func load(corpus string) (bodies, error) {
	loaded := bodies{}
	for _, count := range []string{"1", "4", "16", "64", "512"} {
		body, err := os.ReadFile(filepath.Join(corpus, "patients-"+count+".json"))
		if err != nil {
			return nil, err
		}
		loaded[count] = body
	}
	return loaded, nil
}

func (all bodies) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, known := all[request.PathValue("count")]
	if !known {
		http.Error(response, "there are 1, 4, 16, 64 or 512 records", http.StatusNotFound)
		return
	}
	header := response.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Vary", "Accept-Encoding")
	coding := choose(request.Header.Values("Accept-Encoding"))
	if coding == nil {
		send(response, body)
		return
	}
	level := coding.initial
	if asked := request.PathValue("level"); asked != "" {
		var err error
		if level, err = strconv.Atoi(asked); err != nil || level < coding.lowest || level > coding.highest {
			http.Error(response, coding.name+" has no such level", http.StatusNotFound)
			return
		}
	}
	coded := buffers.Get().(*bytes.Buffer)
	coded.Reset()
	if err := coding.encode(level, body, coded); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
	} else {
		header.Set("Content-Encoding", coding.name)
		send(response, coded.Bytes())
	}
	buffers.Put(coded)
}

func send(response http.ResponseWriter, body []byte) {
	response.Header().Set("Content-Length", strconv.Itoa(len(body)))
	// A failed write means that the client has gone: there is nobody left to tell.
	_, _ = response.Write(body)
}
