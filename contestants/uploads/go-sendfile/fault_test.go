package sendform

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// large is more than the buffers of both ends of a connection hold, so that a peer that stops reading stops the upload.
const large = 64 << 20

// stalling reads a little of each body, says so, and goes on when told to.
func stalling(seen *receiver) (handler http.HandlerFunc, reached, goOn chan struct{}) {
	reached, goOn = make(chan struct{}), make(chan struct{})
	return func(response http.ResponseWriter, request *http.Request) {
		first := make([]byte, 4096)
		n, _ := io.ReadFull(request.Body, first)
		close(reached)
		<-goOn
		request.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(string(first[:n])), request.Body), request.Body}
		seen.ServeHTTP(response, request)
	}, reached, goOn
}

func TestAStalledUploadEndsWhenItsContextIsCancelled(t *testing.T) {
	path, _ := payload(t, large)
	handler, reached, goOn := stalling(new(receiver))
	server := serve(t, handler)
	defer close(goOn)
	form, counts := fileForm(path)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	request, err := form.Request(ctx, http.MethodPost, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-reached
		cancel()
	}()
	_, err = client(t, nil).Do(request)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if sent := counts.Sendfile.Load(); sent >= large {
		t.Fatalf("all %d bytes were sent to a peer that had stopped reading", sent)
	}
	allClosed(t, path)
}

func TestAStalledUploadEndsAtItsDeadline(t *testing.T) {
	path, _ := payload(t, large)
	handler, _, goOn := stalling(new(receiver))
	server := serve(t, handler)
	defer close(goOn)
	form, _ := fileForm(path)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	request, err := form.Request(ctx, http.MethodPost, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = client(t, nil).Do(request); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want context.DeadlineExceeded", err)
	}
	allClosed(t, path)
}

func TestAFileThatShrinksDuringItsUploadIsAnErrorThatSaysSo(t *testing.T) {
	path, _ := payload(t, large)
	seen := new(receiver)
	handler, reached, goOn := stalling(seen)
	server := serve(t, handler)
	form, _ := fileForm(path)
	truncated := make(chan error, 1)
	go func() {
		<-reached
		truncated <- os.Truncate(path, 1<<10)
		close(goOn)
	}()
	_, err := client(t, nil).Do(newRequest(t, form, server.URL))
	if err := <-truncated; err != nil {
		t.Fatal(err)
	}
	mustHaveShrunk(t, err, path, large)
	mustBe(t, "whole uploads", len(seen.all()), 0)
	allClosed(t, path)
}

func mustHaveShrunk(t testing.TB, err error, path string, declared int64) {
	t.Helper()
	var shrunk *ShrunkError
	if !errors.As(err, &shrunk) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v, want a ShrunkError", err)
	}
	mustBe(t, "path", shrunk.Path, path)
	mustBe(t, "declared", shrunk.Declared, declared)
	if shrunk.Sent >= declared || !strings.Contains(err.Error(), path) {
		t.Fatalf("not much of an explanation: %v", err)
	}
}

func TestAFileThatShrinksBeforeItsUploadIsTheSameErrorOnEveryWay(t *testing.T) {
	seen := new(receiver)
	plain := serve(t, seen)
	secure, base := encrypted(t, seen, false)
	for url, client := range map[string]*http.Client{plain.URL: client(t, nil), secure.URL: client(t, base)} {
		path, _ := payload(t, 100_000)
		form, _ := fileForm(path)
		request := newRequest(t, form, url)
		if err := os.Truncate(path, 99_999); err != nil {
			t.Fatal(err)
		}
		_, err := client.Do(request)
		mustHaveShrunk(t, err, path, 100_000)
		allClosed(t, path)
	}
	mustBe(t, "whole uploads", len(seen.all()), 0)
}

func TestOfAFileThatGrowsOnlyTheDeclaredBytesAreSent(t *testing.T) {
	seen := new(receiver)
	plain := serve(t, seen)
	secure, base := encrypted(t, seen, false)
	for url, client := range map[string]*http.Client{plain.URL: client(t, nil), secure.URL: client(t, base)} {
		path, sum := payload(t, 100_000)
		form, _ := fileForm(path)
		request := newRequest(t, form, url)
		grow(t, path)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		status, _ := finish(t, response)
		mustBe(t, "status", status, http.StatusOK)
		mustHold(t, seen.all()[len(seen.all())-1], 100_000, sum)
	}
	mustBe(t, "whole uploads", len(seen.all()), 2)
}

func grow(t testing.TB, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("more"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatVanishesAfterTheRequestWasMadeIsStillSent(t *testing.T) {
	path, sum := payload(t, 100_000)
	seen := new(receiver)
	form, _ := fileForm(path)
	request := newRequest(t, form, serve(t, seen).URL)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	response, err := client(t, nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, response)
	mustHold(t, seen.all()[0], 100_000, sum)
}

// redirectAfter answers 307 once do has been done.
func redirectAfter(t testing.TB, do func() error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/first", func(response http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body)
		if err := do(); err != nil {
			t.Error(err)
		}
		http.Redirect(response, request, "/final", http.StatusTemporaryRedirect)
	})
	mux.Handle("/final", new(receiver))
	return mux
}

func TestAFileThatVanishesOrShrinksBeforeARedirectIsFollowedIsAnError(t *testing.T) {
	path, _ := payload(t, 100_000)
	form, _ := fileForm(path)
	server := serve(t, redirectAfter(t, func() error { return os.Remove(path) }))
	if _, err := client(t, nil).Do(newRequest(t, form, server.URL+"/first")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("vanished: got %v", err)
	}
	path, _ = payload(t, 100_000)
	form, _ = fileForm(path)
	server = serve(t, redirectAfter(t, func() error { return os.Truncate(path, 10) }))
	_, err := client(t, nil).Do(newRequest(t, form, server.URL+"/first"))
	mustHaveShrunk(t, err, path, 100_000)
	allClosed(t, path)
}

// listen answers each connection by handler, without net/http's ways.
func listen(t testing.TB, handler func(*net.TCPConn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if tcp, ok := connection.(*net.TCPConn); ok {
				go handler(tcp)
			}
		}
	}()
	return "http://" + listener.Addr().String() + "/"
}

func TestAServerThatClosesEarlyIsAnErrorAndTheNextUploadGetsANewConnection(t *testing.T) {
	path, sum := payload(t, large)
	url := listen(t, func(connection *net.TCPConn) {
		_, _ = io.CopyN(io.Discard, connection, 1<<20)
		_ = connection.Close() // with unread bytes: a reset
	})
	form, counts := fileForm(path)
	client := client(t, nil)
	if response, err := client.Do(newRequest(t, form, url)); err == nil {
		t.Fatalf("an upload that nobody took was answered %s", response.Status)
	}
	if sent := counts.Sendfile.Load(); sent >= large {
		t.Fatalf("%d bytes count as sent", sent)
	}
	allClosed(t, path)
	seen := new(receiver)
	status, _ := post(t, client, form, serve(t, seen).URL)
	mustBe(t, "status of the next", status, http.StatusOK)
	mustHold(t, seen.all()[0], large, sum)
}

func TestA413BeforeTheBodysEndIsTheResponseAndStopsTheUpload(t *testing.T) {
	path, _ := payload(t, large)
	closed := make(chan struct{})
	url := listen(t, func(connection *net.TCPConn) {
		_, _ = io.CopyN(io.Discard, connection, 1<<20)
		_, _ = io.WriteString(connection, "HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large")
		<-closed // as a server that lingers; nothing more is read
		_ = connection.Close()
	})
	form, counts := fileForm(path)
	status, text := post(t, client(t, nil), form, url)
	mustBe(t, "status", status, http.StatusRequestEntityTooLarge)
	mustBe(t, "text", text, "too large")
	allClosed(t, path)
	close(closed)
	if sent := counts.Sendfile.Load(); sent >= large {
		t.Fatalf("%d bytes were sent after all", sent)
	}
}

func TestADeadlineOnTheConnectionItselfIsObeyed(t *testing.T) {
	path, _ := payload(t, large)
	hold := make(chan struct{})
	url := listen(t, func(connection *net.TCPConn) {
		<-hold
		_ = connection.Close()
	})
	defer close(hold)
	connection, err := Dial(new(net.Dialer).DialContext)(context.Background(), "tcp", strings.Trim(url, "htp:/"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	form, _ := fileForm(path)
	body := newRequest(t, form, url).Body
	defer body.Close()
	if _, err := io.Copy(connection, &io.LimitedReader{R: body, N: large}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v, want os.ErrDeadlineExceeded", err)
	}
}
