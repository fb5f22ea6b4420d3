package sendform

import (
	"context"
	"net"
	"net/http"
	"slices"
)

// DialFunc is the type of http.Transport's DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Transport returns a clone of base (of http.DefaultTransport if nil) whose TCP connections send a form's files by
// sendfile. Everything else about it is as in base, its choice of HTTP/2 included.
func Transport(base *http.Transport) *http.Transport {
	if base == nil {
		if standard, ok := http.DefaultTransport.(*http.Transport); ok {
			base = standard
		} else {
			base = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
		}
	}
	ours := base.Clone()
	dial := DialFunc(ours.DialContext)
	switch {
	case dial != nil:
	case ours.Dial != nil: // deprecated, and still obeyed by net/http
		old := ours.Dial
		dial = func(_ context.Context, network, address string) (net.Conn, error) { return old(network, address) }
	default:
		dial = new(net.Dialer).DialContext
		// A transport with a dialer of its own gives up HTTP/2 unless told to try it; Clone has made base settle whether
		// it speaks HTTP/2, which is read off here.
		if ours.TLSClientConfig != nil && slices.Contains(ours.TLSClientConfig.NextProtos, "h2") {
			ours.ForceAttemptHTTP2 = true
		}
	}
	ours.DialContext = Dial(dial)
	return ours
}

// Dial wraps a dialer so that its TCP connections send a form's files by sendfile. Connections of any other type, and
// all connections on systems other than Linux, are handed on as they are.
func Dial(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wrap(connection), nil
	}
}
