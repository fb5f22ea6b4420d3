package sendform

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func boundaryOf(t testing.TB, request *http.Request) string {
	t.Helper()
	_, boundary, found := strings.Cut(request.Header.Get("Content-Type"), "boundary=")
	if !found {
		t.Fatalf("no boundary in %q", request.Header.Get("Content-Type"))
	}
	return boundary
}

// standard writes the same parts by mime/multipart.
func standard(t testing.TB, boundary, field, value, name, filename, content string) []byte {
	t.Helper()
	var want bytes.Buffer
	writer := multipart.NewWriter(&want)
	if err := writer.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	if err := writer.WriteField(field, value); err != nil {
		t.Fatal(err)
	}
	part, err := writer.CreateFormFile(name, filename)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return want.Bytes()
}

func TestABodyIsByteForByteWhatMimeMultipartWrites(t *testing.T) {
	for _, content := range []string{"", "x", strings.Repeat("0123456789", 10_000)} {
		form := new(Form)
		form.Field("ti\"tle", "Finish\r\nline")
		form.File("fi\\le", write(t, "a \"b\".bin", content))
		request := newRequest(t, form, "http://example.invalid/")
		got, err := io.ReadAll(request.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := standard(t, boundaryOf(t, request), "ti\"tle", "Finish\r\nline", "fi\\le", "a \"b\".bin", content)
		if !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		mustBe(t, "Content-Length", request.ContentLength, int64(len(want)))
		if err := request.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEmptyFormIsAnEmptyMultipartBody(t *testing.T) {
	request := newRequest(t, new(Form), "http://example.invalid/")
	reader := multipart.NewReader(request.Body, boundaryOf(t, request))
	if _, err := reader.NextPart(); err != io.EOF {
		t.Fatalf("got %v, want the end at once", err)
	}
}

func TestEachRequestOfAFormHasABoundaryOfItsOwnAndOfOneLength(t *testing.T) {
	form := new(Form)
	form.Field("a", "b")
	first := boundaryOf(t, newRequest(t, form, "http://example.invalid/"))
	second := boundaryOf(t, newRequest(t, form, "http://example.invalid/"))
	if first == second {
		t.Fatal("two requests share a boundary")
	}
	mustBe(t, "length of the boundary", len(second), len(first))
}

func TestGetBodyGivesTheSameBytesAgainEvenAfterTheFirstBodyWasClosed(t *testing.T) {
	path := write(t, "a.bin", strings.Repeat("finish", 1000))
	form, _ := fileForm(path)
	request := newRequest(t, form, "http://example.invalid/")
	first, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(request.Body.Close(), request.Body.Close()); err != nil {
		t.Fatalf("closing twice: %v", err)
	}
	again, err := request.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	second, err := io.ReadAll(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Fatal("the second body differs from the first")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	allClosed(t, path)
}

func TestAPartMayHaveAContentTypeAndAFilenameOfItsOwn(t *testing.T) {
	form := new(Form)
	part := form.File("file", write(t, "a.bin", "{}"))
	form.Field("later", "more")
	part.ContentType, part.Filename = "application/json", "b.json"
	request := newRequest(t, form, "http://example.invalid/")
	got, err := multipart.NewReader(request.Body, boundaryOf(t, request)).NextPart()
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, "content type", got.Header.Get("Content-Type"), "application/json")
	mustBe(t, "filename", got.FileName(), "b.json")
}

func TestAContentTypeWithALineBreakIsRefused(t *testing.T) {
	path := write(t, "a.bin", "x")
	form := new(Form)
	form.File("first", path)
	form.File("second", path).ContentType = "text/plain\r\nX-Forged: 1"
	_, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
	if err == nil || !strings.Contains(err.Error(), `part "second"`) {
		t.Fatalf("got %v, want an error that names the part", err)
	}
	allClosed(t, path)
}

func TestANameThatNoHeaderCanCarryIsRefused(t *testing.T) {
	for _, name := range []string{"a\x00", "\x1b", "a\x7fb"} {
		form := new(Form)
		form.Field(name, "value")
		_, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
		if err == nil || !strings.Contains(err.Error(), "control character") {
			t.Fatalf("name %q: got %v", name, err)
		}
	}
}

func TestAMissingFileIsAnErrorThatNamesPartAndPathBeforeAnythingIsSent(t *testing.T) {
	path := write(t, "a.bin", "x")
	form := new(Form)
	form.File("here", path)
	form.File("gone", filepath.Join(t.TempDir(), "none.bin"))
	_, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `part "gone"`) || !strings.Contains(err.Error(), "none.bin") {
		t.Fatalf("got %v", err)
	}
	allClosed(t, path)
}

func TestAnEmptyPathOrNoOpenFileIsAnErrorAndNoEmptyField(t *testing.T) {
	for _, add := range []func(*Form){
		func(form *Form) { form.File("file", "") },
		func(form *Form) { form.OpenFile("file", "a.bin", nil) },
	} {
		form := new(Form)
		add(form)
		_, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("got %v, want fs.ErrNotExist", err)
		}
	}
}

func TestADirectoryIsRefused(t *testing.T) {
	form := new(Form)
	form.File("file", t.TempDir())
	_, err := form.Request(context.Background(), http.MethodPost, "http://example.invalid/")
	if err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Fatalf("got %v", err)
	}
}

func TestABadURLLeavesNoFileOpen(t *testing.T) {
	path := write(t, "a.bin", "x")
	form, _ := fileForm(path)
	if _, err := form.Request(context.Background(), http.MethodPost, "http://bad host/"); err == nil {
		t.Fatal("a URL with a space was taken")
	}
	allClosed(t, path)
}

func TestAFileOpenedByTheCallerIsSentFromItsFirstByteAndStaysOpen(t *testing.T) {
	file, err := os.Open(write(t, "a.bin", "finish"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	form := new(Form)
	form.OpenFile("file", "b.bin", file)
	request := newRequest(t, form, "http://example.invalid/")
	part, err := multipart.NewReader(request.Body, boundaryOf(t, request)).NextPart()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(part)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, "content", string(content), "finish")
	if err := request.Body.Close(); err != nil {
		t.Fatal(err)
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		t.Fatalf("the caller's file was closed: %v", err)
	}
	mustBe(t, "the file's own offset", at, 3)
}
