package sendform

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds what must happen; nothing is expected to take nearly as long.
const patience = 20 * time.Second

// payload makes a file of random bytes and tells its path and its check sum.
func payload(t testing.TB, size int64) (path string, sum uint32) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "payload.bin")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	hash := crc32.NewIEEE()
	source := rand.NewChaCha8([32]byte{1})
	if _, err := io.CopyN(io.MultiWriter(file, hash), source, size); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, hash.Sum32()
}

// received is what a server saw of one upload.
type received struct {
	length  int64
	chunked bool
	proto   string
	remote  string
	fields  map[string]string
	files   map[string]fileSeen
}

type fileSeen struct {
	name, contentType string
	size              int64
	sum               uint32
}

// receiver reads forms and keeps what it saw.
type receiver struct {
	mutex sync.Mutex
	seen  []received
}

func (r *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	got, err := receive(request)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	r.mutex.Lock()
	r.seen = append(r.seen, got)
	r.mutex.Unlock()
	fmt.Fprintln(response, "received")
}

func (r *receiver) all() []received {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.seen
}

func receive(request *http.Request) (received, error) {
	got := received{length: request.ContentLength, proto: request.Proto, remote: request.RemoteAddr, fields: map[string]string{}, files: map[string]fileSeen{}}
	got.chunked = len(request.TransferEncoding) > 0
	reader, err := request.MultipartReader()
	if err != nil {
		return got, err
	}
	for {
		part, err := reader.NextRawPart()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if part.FileName() == "" {
			value, err := io.ReadAll(part)
			if err != nil {
				return got, err
			}
			got.fields[part.FormName()] = string(value)
			continue
		}
		hash := crc32.NewIEEE()
		size, err := io.Copy(hash, part)
		if err != nil {
			return got, err
		}
		got.files[part.FormName()] = fileSeen{part.FileName(), part.Header.Get("Content-Type"), size, hash.Sum32()}
	}
}

// serve starts a server for the test's time.
func serve(t testing.TB, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// client has connections of its own, which end with the test.
func client(t testing.TB, base *http.Transport) *http.Client {
	t.Helper()
	if base == nil {
		base = &http.Transport{}
	}
	transport := Transport(base)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// fileForm is a form of one field and one file, with its counts.
func fileForm(path string) (*Form, *Counts) {
	counts := new(Counts)
	form := &Form{Counts: counts}
	form.Field("title", "Finish line")
	form.File("file", path)
	return form, counts
}

func newRequest(t testing.TB, form *Form, url string) *http.Request {
	t.Helper()
	request, err := form.Request(context.Background(), http.MethodPost, url)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// post sends the form and reads the response to its end.
func post(t testing.TB, client *http.Client, form *Form, url string) (status int, text string) {
	t.Helper()
	response, err := client.Do(newRequest(t, form, url))
	if err != nil {
		t.Fatal(err)
	}
	return finish(t, response)
}

func finish(t testing.TB, response *http.Response) (status int, text string) {
	t.Helper()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(bytes.TrimSpace(content))
}

func mustBe[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// bySendfile is how many of a file's bytes must have gone by sendfile. When a release of Go no longer hands request
// bodies to the connection, the tests that use it fail.
func bySendfile(size int64) int64 {
	if runtime.GOOS == "linux" {
		return size
	}
	return 0
}

// openDescriptors counts this process's descriptors of the file at path.
func openDescriptors(t testing.TB, path string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count descriptors in")
	}
	open := 0
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && strings.HasPrefix(target, path) {
			open++
		}
	}
	return open
}

// allClosed waits until nothing in this process holds the file any more.
func allClosed(t testing.TB, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); openDescriptors(t, path) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors of %s are still open", openDescriptors(t, path), path)
		}
	}
}
