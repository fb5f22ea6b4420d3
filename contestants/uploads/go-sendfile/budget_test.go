package sendform

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// What one upload may allocate, net/http's part included, whatever the file's size.
const (
	mostAllocations    = 65
	mostAllocatedBytes = 10 << 10
)

var sizes = []int64{1 << 10, 100 << 10, 1 << 20, 100 << 20}

// sink answers uploads with a Content-Length and allocates nothing per request, so that what a test counts is the
// client's.
func sink(connection *net.TCPConn) {
	defer connection.Close()
	buffer := make([]byte, 256<<10)
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	have := 0
	for {
		head := bytes.Index(buffer[:have], []byte("\r\n\r\n"))
		if head < 0 {
			n, err := connection.Read(buffer[have:])
			if err != nil {
				return
			}
			have += n
			continue
		}
		left := lengthIn(buffer[:head]) - int64(have-head-4)
		for left > 0 {
			n, err := connection.Read(buffer[:min(left, int64(len(buffer)))])
			if err != nil {
				return
			}
			left -= int64(n)
		}
		have = 0
		if _, err := connection.Write(answer); err != nil {
			return
		}
	}
}

// lengthIn finds the Content-Length in a head, which is the last number there is in ours.
func lengthIn(head []byte) (length int64) {
	_, rest, _ := bytes.Cut(head, []byte("Content-Length: "))
	for _, digit := range rest {
		if digit < '0' || digit > '9' {
			break
		}
		length = length*10 + int64(digit-'0')
	}
	return length
}

// way makes a request that uploads the file at path.
type way func(t testing.TB, path, url string) *http.Request

func bySendform(t testing.TB, path, url string) *http.Request {
	form := new(Form)
	form.File("file", path)
	request, err := form.Request(context.Background(), http.MethodPost, url)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// byMultiReader is what the standard library does best by itself: a known length, read and written.
func byMultiReader(t testing.TB, path, url string) *http.Request {
	var framing bytes.Buffer
	writer := multipart.NewWriter(&framing)
	if _, err := writer.CreateFormFile("file", filepath.Base(path)); err != nil {
		t.Fatal(err)
	}
	prefix := framing.Len()
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	body := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(framing.Bytes()[:prefix]), file, bytes.NewReader(framing.Bytes()[prefix:])), file}
	request, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = info.Size() + int64(framing.Len())
	request.Header.Set("Content-Type", writer.FormDataContentType())
	return request
}

func upload(t testing.TB, client *http.Client, make way, path, url string) {
	response, err := client.Do(make(t, path, url))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnUploadAllocatesLittleWhateverItsSize(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates by itself")
	}
	url := listen(t, sink)
	client := client(t, nil)
	client.Timeout = 0 // a timer is the caller's choice and costs an allocation or two
	for _, size := range sizes {
		path, _ := payload(t, size)
		upload(t, client, bySendform, path, url) // makes the connection
		const uploads = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range uploads {
			upload(t, client, bySendform, path, url)
		}
		runtime.ReadMemStats(&after)
		allocations := (after.Mallocs - before.Mallocs) / uploads
		allocated := (after.TotalAlloc - before.TotalAlloc) / uploads
		t.Logf("%d bytes: %d allocations, %d bytes allocated", size, allocations, allocated)
		if allocations > mostAllocations || allocated > mostAllocatedBytes {
			t.Errorf("an upload of %d bytes allocates %d bytes in %d pieces; at most %d in %d", size, allocated, allocations, mostAllocatedBytes, mostAllocations)
		}
	}
}

func BenchmarkUpload(b *testing.B) {
	for name, make := range map[string]way{"sendform": bySendform, "multireader": byMultiReader} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%s", name, strconv.FormatInt(size>>10, 10)+"KiB"), func(b *testing.B) {
				path, _ := payload(b, size)
				url := listen(b, sink)
				client := client(b, nil)
				client.Timeout = 0
				upload(b, client, make, path, url)
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					upload(b, client, make, path, url)
				}
			})
		}
	}
}
