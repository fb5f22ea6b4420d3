package sendform

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
)

const fallbackSize = 3<<20 + 11

func encrypted(t testing.TB, seen *receiver, http2 bool) (*httptest.Server, *http.Transport) {
	t.Helper()
	server := httptest.NewUnstartedServer(seen)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	base, ok := server.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the test server's client has no http.Transport")
	}
	return server, base
}

func mustFallBack(t testing.TB, got received, sum uint32, counts *Counts) {
	t.Helper()
	mustHold(t, got, fallbackSize, sum)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), 0)
	mustBe(t, "bytes copied", counts.Copied.Load(), got.length)
}

func TestOverTLSTheBodyIsCopiedAndRight(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	server, base := encrypted(t, seen, false)
	form, counts := fileForm(path)
	post(t, client(t, base), form, server.URL)
	mustBe(t, "protocol", seen.all()[0].proto, "HTTP/1.1")
	mustFallBack(t, seen.all()[0], sum, counts)
	allClosed(t, path)
}

func TestOverHTTP2TheBodyIsCopiedAndRight(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	server, base := encrypted(t, seen, true)
	form, counts := fileForm(path)
	post(t, client(t, base), form, server.URL)
	mustBe(t, "protocol", seen.all()[0].proto, "HTTP/2.0")
	mustFallBack(t, seen.all()[0], sum, counts)
	allClosed(t, path)
}

func TestOverClearHTTP2TheBodyIsCopiedAndRight(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	clear2 := new(http.Protocols)
	clear2.SetUnencryptedHTTP2(true)
	server := httptest.NewUnstartedServer(seen)
	server.Config.Protocols = clear2
	server.Start()
	t.Cleanup(server.Close)
	form, counts := fileForm(path)
	post(t, client(t, &http.Transport{Protocols: clear2}), form, server.URL)
	mustBe(t, "protocol", seen.all()[0].proto, "HTTP/2.0")
	mustFallBack(t, seen.all()[0], sum, counts)
}

func TestThroughAConnectTunnelTheBodyIsCopiedAndRight(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	server, base := encrypted(t, seen, false)
	tunnels := 0
	proxy := serve(t, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		tunnels++
		mustBe(t, "method", request.Method, http.MethodConnect)
		tunnel(t, response, request.Host)
	}))
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	base.Proxy = http.ProxyURL(address)
	form, counts := fileForm(path)
	post(t, client(t, base), form, server.URL)
	mustBe(t, "tunnels", tunnels, 1)
	mustFallBack(t, seen.all()[0], sum, counts)
}

// tunnel joins the client's connection to host until either side ends.
func tunnel(t testing.TB, response http.ResponseWriter, host string) {
	onward, err := net.Dial("tcp", host)
	if err != nil {
		t.Error(err)
		return
	}
	defer onward.Close()
	response.WriteHeader(http.StatusOK)
	back, buffered, err := http.NewResponseController(response).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		_, _ = io.Copy(back, onward)
		_ = back.Close()
	}()
	_, _ = io.Copy(onward, buffered)
}

func TestWithoutOurTransportTheSameRequestIsAnOrdinaryOne(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	server := serve(t, seen)
	form, counts := fileForm(path)
	post(t, server.Client(), form, server.URL)
	mustBe(t, "chunked", seen.all()[0].chunked, false)
	mustFallBack(t, seen.all()[0], sum, counts)
}

func TestABodyThatTheCallerWantsChunkedIsCopiedAndRight(t *testing.T) {
	path, sum := payload(t, fallbackSize)
	seen := new(receiver)
	server := serve(t, seen)
	form, counts := fileForm(path)
	request := newRequest(t, form, server.URL)
	request.ContentLength = -1
	response, err := client(t, nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, response)
	got := seen.all()[0]
	mustHold(t, got, fallbackSize, sum)
	mustBe(t, "chunked", got.chunked, true)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), 0)
}

func TestAPipeIsReadToItsEndAndSentInChunks(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	content := bytes.Repeat([]byte("finish"), 100_000)
	go func() {
		_, _ = writer.Write(content)
		_ = writer.Close()
	}()
	seen := new(receiver)
	server := serve(t, seen)
	counts := new(Counts)
	form := &Form{Counts: counts}
	form.OpenFile("file", "pipe.bin", reader)
	form.Field("after", "the pipe")
	request := newRequest(t, form, server.URL)
	if request.GetBody != nil || request.ContentLength != unknown {
		t.Fatalf("a pipe can't be sent twice, and has no length: %d", request.ContentLength)
	}
	response, err := client(t, nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, response)
	got := seen.all()[0]
	mustBe(t, "chunked", got.chunked, true)
	mustBe(t, "file's size", got.files["file"].size, int64(len(content)))
	mustBe(t, "field after it", got.fields["after"], "the pipe")
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), 0)
}

func TestConnectionsThatAreNoTCPAreHandedOnAsTheyAre(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	dial := Dial(func(context.Context, string, string) (net.Conn, error) { return ours, nil })
	got, err := dial(context.Background(), "tcp", "example.invalid:80")
	if err != nil {
		t.Fatal(err)
	}
	if got != ours {
		t.Fatalf("got %T, want the connection itself", got)
	}
}
