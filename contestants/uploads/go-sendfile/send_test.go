package sendform

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"
)

// mustHold checks that a server saw the whole form as fileForm made it.
func mustHold(t testing.TB, got received, size int64, sum uint32) {
	t.Helper()
	mustBe(t, "field", got.fields["title"], "Finish line")
	mustBe(t, "file", got.files["file"], fileSeen{"payload.bin", OctetStream, size, sum})
}

func TestAFileGoesBySendfileAndArrivesWholeWithItsLength(t *testing.T) {
	for _, size := range []int64{0, 1, 1 << 10, 1<<20 + 7, 20 << 20} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			path, sum := payload(t, size)
			seen := new(receiver)
			server := serve(t, seen)
			form, counts := fileForm(path)
			status, text := post(t, client(t, nil), form, server.URL)
			mustBe(t, "status of "+text, status, http.StatusOK)
			got := seen.all()[0]
			mustHold(t, got, size, sum)
			mustBe(t, "chunked", got.chunked, false)
			mustBe(t, "bytes by sendfile (does net/http still hand the body to the connection?)", counts.Sendfile.Load(), bySendfile(size))
			mustBe(t, "all bytes", counts.Sendfile.Load()+counts.Copied.Load(), got.length)
			allClosed(t, path)
		})
	}
}

func TestSeveralFilesAndFieldsKeepTheirOrderAndBytes(t *testing.T) {
	one, oneSum := payload(t, 100_000)
	two, twoSum := payload(t, 3)
	counts := new(Counts)
	form := &Form{Counts: counts}
	form.File("one", one)
	form.Field("between", "fields")
	form.File("two", two).ContentType = "text/plain"
	form.Field("after", "all")
	seen := new(receiver)
	post(t, client(t, nil), form, serve(t, seen).URL)
	got := seen.all()[0]
	mustBe(t, "first file", got.files["one"], fileSeen{"payload.bin", OctetStream, 100_000, oneSum})
	mustBe(t, "second file", got.files["two"], fileSeen{"payload.bin", "text/plain", 3, twoSum})
	mustBe(t, "fields", got.fields["between"]+" "+got.fields["after"], "fields all")
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(100_003))
}

func TestOneConnectionIsKeptForManyUploads(t *testing.T) {
	path, sum := payload(t, 1<<20)
	seen := new(receiver)
	server := serve(t, seen)
	form, counts := fileForm(path)
	client := client(t, nil)
	for range 5 {
		post(t, client, form, server.URL)
	}
	for _, got := range seen.all() {
		mustHold(t, got, 1<<20, sum)
		mustBe(t, "connection", got.remote, seen.all()[0].remote)
	}
	mustBe(t, "uploads", len(seen.all()), 5)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(5<<20))
}

func TestEightParallelRequestsShareOneOpenFile(t *testing.T) {
	path, sum := payload(t, 8<<20)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := new(receiver)
	server := serve(t, seen)
	counts := new(Counts)
	form := &Form{Counts: counts}
	form.Field("title", "Finish line")
	form.OpenFile("file", "payload.bin", file)
	client := client(t, nil)
	var all sync.WaitGroup
	for range 8 {
		request := newRequest(t, form, server.URL)
		all.Go(func() {
			response, err := client.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		})
	}
	all.Wait()
	mustBe(t, "uploads", len(seen.all()), 8)
	for _, got := range seen.all() {
		mustHold(t, got, 8<<20, sum)
	}
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(64<<20))
}

func TestARedirect307SendsTheWholeFormAgain(t *testing.T) {
	path, sum := payload(t, 12<<20)
	seen := new(receiver)
	mux := http.NewServeMux()
	mux.Handle("/final", seen)
	// The first answer comes when a part of the body has been read: the second upload may not go on from there.
	mux.HandleFunc("/first", func(response http.ResponseWriter, request *http.Request) {
		_, _ = io.CopyN(io.Discard, request.Body, 1<<20)
		http.Redirect(response, request, "/final", http.StatusTemporaryRedirect)
	})
	server := serve(t, mux)
	form, counts := fileForm(path)
	status, text := post(t, client(t, nil), form, server.URL+"/first")
	mustBe(t, "status of "+text, status, http.StatusOK)
	mustHold(t, seen.all()[0], 12<<20, sum)
	if got := counts.Sendfile.Load(); got < bySendfile(12<<20) {
		t.Fatalf("%d bytes by sendfile, want at least the file", got)
	}
	allClosed(t, path)
}

func TestAnHTTPProxyGetsTheFileBySendfile(t *testing.T) {
	path, sum := payload(t, 1<<20)
	seen := new(receiver)
	var asked string
	proxy := serve(t, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		asked = request.URL.String()
		seen.ServeHTTP(response, request)
	}))
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	form, counts := fileForm(path)
	post(t, client(t, &http.Transport{Proxy: http.ProxyURL(address)}), form, "http://upload.invalid/form")
	mustBe(t, "URL that the proxy was asked for", asked, "http://upload.invalid/form")
	mustHold(t, seen.all()[0], 1<<20, sum)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(1<<20))
}

func expecting(t *testing.T, form *Form, url string) *http.Request {
	t.Helper()
	request := newRequest(t, form, url)
	request.Header.Set("Expect", "100-continue")
	return request
}

func TestExpect100ContinueIsWaitedForAndThenTheFileGoesBySendfile(t *testing.T) {
	path, sum := payload(t, 1<<20)
	seen := new(receiver)
	form, counts := fileForm(path)
	var before int64
	server := serve(t, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		before = counts.Sendfile.Load() + counts.Copied.Load()
		seen.ServeHTTP(response, request) // the first read sends 100 Continue
	}))
	response, err := client(t, &http.Transport{ExpectContinueTimeout: patience}).Do(expecting(t, form, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	finish(t, response)
	mustBe(t, "bytes sent before 100 Continue", before, 0)
	mustHold(t, seen.all()[0], 1<<20, sum)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(1<<20))
}

func TestAfter417NoByteOfTheBodyIsSent(t *testing.T) {
	path, _ := payload(t, 1<<20)
	form, counts := fileForm(path)
	server := serve(t, http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		response.WriteHeader(http.StatusExpectationFailed)
	}))
	response, err := client(t, &http.Transport{ExpectContinueTimeout: patience}).Do(expecting(t, form, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	status, _ := finish(t, response)
	mustBe(t, "status", status, http.StatusExpectationFailed)
	allClosed(t, path)
	mustBe(t, "bytes sent", counts.Sendfile.Load()+counts.Copied.Load(), 0)
}

func TestTransportKeepsADialerThatItIsGivenAndTheOldOneToo(t *testing.T) {
	path, _ := payload(t, 1000)
	seen := new(receiver)
	server := serve(t, seen)
	dials := 0
	for _, base := range []*http.Transport{
		{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, address)
		}},
		{Dial: func(network, address string) (net.Conn, error) {
			dials++
			return net.DialTimeout(network, address, time.Minute)
		}},
	} {
		form, counts := fileForm(path)
		post(t, client(t, base), form, server.URL)
		mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), bySendfile(1000))
	}
	mustBe(t, "dials", dials, 2)
}

func TestTransportOfNothingIsTheDefaultOneAndStillTriesHTTP2(t *testing.T) {
	if transport := Transport(nil); transport.Proxy == nil || !transport.ForceAttemptHTTP2 {
		t.Fatal("the default transport's settings were lost")
	}
	if !Transport(&http.Transport{}).ForceAttemptHTTP2 {
		t.Fatal("a plain transport would speak HTTP/2 over TLS; with our dialer it no longer does")
	}
	off := &http.Transport{Protocols: new(http.Protocols)}
	off.Protocols.SetHTTP1(true)
	mustBe(t, "HTTP/2 of a transport without it", Transport(off).ForceAttemptHTTP2, false)
	own := &http.Transport{DialContext: new(net.Dialer).DialContext}
	mustBe(t, "HTTP/2 of a transport with a dialer", Transport(own).ForceAttemptHTTP2, false)
}

func TestADialThatFailsIsHandedOn(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	path, _ := payload(t, 10)
	form, _ := fileForm(path)
	if _, err := client(t, nil).Do(newRequest(t, form, url)); err == nil {
		t.Fatal("a closed port took an upload")
	}
	allClosed(t, path)
}
