package sendform

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// unescaped is what a reader makes of a name: line breaks can't be taken back from their escapes.
func unescaped(name string) string {
	return strings.NewReplacer("\r", "%0D", "\n", "%0A").Replace(name)
}

func FuzzAnyFormReadsBackByMimeMultipart(f *testing.F) {
	f.Add("title", "Finish line", "file", "a.bin", []byte("content"))
	f.Add("", "", "", "", []byte{})
	f.Add("a\"b\\", "--boundary\r\n", "c\r\nd", "\\\"\tü", []byte("\r\n--\r\n\r\n"))
	f.Add("a\x00", "b", "c", "d", []byte("control characters in a name"))
	f.Fuzz(func(t *testing.T, field, value, name, filename string, content []byte) {
		path := write(t, "payload.bin", string(content))
		form := new(Form)
		form.Field(field, value)
		form.File(name, path).Filename = filename
		request, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
		if err != nil {
			if !strings.ContainsFunc(field+name+filename, isControl) {
				t.Fatal(err)
			}
			return
		}
		defer request.Body.Close()
		boundary := boundaryOf(t, request)
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, "Content-Length", request.ContentLength, int64(len(body)))
		if want := standard(t, boundary, field, value, name, filename, string(content)); !bytes.Equal(body, want) {
			t.Fatalf("got %q, want %q", body, want)
		}
		reader := multipart.NewReader(bytes.NewReader(body), boundary)
		mustRead(t, reader, field, value)
		mustRead(t, reader, name, string(content))
		if _, err := reader.NextRawPart(); err != io.EOF {
			t.Fatalf("after the last part: %v", err)
		}
	})
}

func mustRead(t *testing.T, reader *multipart.Reader, name, content string) {
	t.Helper()
	part, err := reader.NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, "content", string(got), content)
	// Bytes that are no UTF-8 make the reader drop the whole header value.
	if part.FormName() != "" {
		mustBe(t, "name", part.FormName(), unescaped(name))
	}
}
