package sendform

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

type sendfileCall = func(socket, file int, offset *int64, count int) (int, error)

// clientWith has connections with another sendfile.
func clientWith(t testing.TB, call sendfileCall) *http.Client {
	t.Helper()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		ours, ok := wrap(connection).(*conn)
		if !ok {
			return nil, errors.New("a TCP connection was not wrapped")
		}
		ours.sendfile = call
		return ours, nil
	}
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func TestAFileThatSendfileRefusesIsCopiedInstead(t *testing.T) {
	for _, refusal := range []error{syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		path, sum := payload(t, fallbackSize)
		seen := new(receiver)
		form, counts := fileForm(path)
		refuse := func(int, int, *int64, int) (int, error) { return -1, refusal }
		post(t, clientWith(t, refuse), form, serve(t, seen).URL)
		mustFallBack(t, seen.all()[0], sum, counts)
	}
}

func TestInterruptedAndPartialSendfilesGoOnWhereTheyStood(t *testing.T) {
	path, sum := payload(t, 100_000)
	seen := new(receiver)
	form, counts := fileForm(path)
	turn := 0
	grudging := func(socket, file int, offset *int64, count int) (int, error) {
		if turn++; turn%2 == 0 {
			return -1, syscall.EINTR
		}
		return syscall.Sendfile(socket, file, offset, min(count, 777))
	}
	post(t, clientWith(t, grudging), form, serve(t, seen).URL)
	mustHold(t, seen.all()[0], 100_000, sum)
	mustBe(t, "bytes by sendfile", counts.Sendfile.Load(), 100_000)
}

func TestAnyOtherFailureOfSendfileFailsTheUploadAndIsNamed(t *testing.T) {
	path, _ := payload(t, 100_000)
	form, _ := fileForm(path)
	broken := func(int, int, *int64, int) (int, error) { return -1, syscall.EIO }
	_, err := clientWith(t, broken).Do(newRequest(t, form, serve(t, new(receiver)).URL))
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "sendfile") {
		t.Fatalf("got %v", err)
	}
	allClosed(t, path)
}

func TestAFileClosedByItsOwnerFailsTheUploadAndNoOtherFileIsSent(t *testing.T) {
	path, _ := payload(t, 100_000)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	form := new(Form)
	form.OpenFile("file", "a.bin", file)
	request := newRequest(t, form, serve(t, new(receiver)).URL)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, nil).Do(request); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("got %v, want os.ErrClosed", err)
	}
}

func TestALimitBelowTheBodysLengthIsObeyed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	arrived := make(chan int64, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		count, _ := io.Copy(io.Discard, connection)
		arrived <- count
	}()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	path, _ := payload(t, 100_000)
	form, _ := fileForm(path)
	body := newRequest(t, form, "http://example.invalid/").Body
	defer body.Close()
	limited := &io.LimitedReader{R: body, N: 50_000}
	sent, err := io.Copy(wrap(dialled), limited)
	if err != nil {
		t.Fatal(err)
	}
	if err := dialled.Close(); err != nil {
		t.Fatal(err)
	}
	mustBe(t, "bytes sent", sent, 50_000)
	mustBe(t, "what is left of the limit", limited.N, 0)
	mustBe(t, "bytes that arrived", <-arrived, 50_000)
}
