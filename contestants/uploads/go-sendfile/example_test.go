package sendform_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"photofinish/sendform"
)

// A server as there are many: it prints what it was sent.
func server() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		file, header, err := request.FormFile("file")
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		content, err := io.ReadAll(file)
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(response, "%s: %s, %q", request.FormValue("title"), header.Filename, content)
	}))
}

func Example() {
	server := server()
	defer server.Close()
	folder, err := os.MkdirTemp("", "sendform")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "finish.txt")
	if err := os.WriteFile(path, []byte("by a nose"), 0o600); err != nil {
		log.Fatal(err)
	}

	client := &http.Client{Transport: sendform.Transport(nil)}
	form := new(sendform.Form)
	form.Field("title", "Finish line")
	form.File("file", path)
	request, err := form.Request(context.Background(), http.MethodPost, server.URL)
	if err != nil {
		log.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", answer)
	// Output: Finish line: finish.txt, "by a nose"
}
