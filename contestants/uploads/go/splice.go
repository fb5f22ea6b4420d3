package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
)

const (
	spliceMove     = 1 // SPLICE_F_MOVE
	spliceNonblock = 2 // SPLICE_F_NONBLOCK
	spliceMore     = 4 // SPLICE_F_MORE

	fSetPipeSize = 1031 // F_SETPIPE_SZ
)

// splice sends the file through a pipe by splice(2), on a connection that net/http uses and we have wrapped. What it
// claims to have sent is what the socket took out of the pipe.
func (u *uploader) splice() (answer, error) {
	framed, err := u.frame()
	if err != nil {
		return answer{}, err
	}
	body := &splicedBody{framed: framed, pipeSize: u.buffer}
	status, err := u.post(body, framed.length(), framed.contentType)
	return answer{bytes: body.spliced.Load(), status: status}, err
}

// splicedBody is a body that only a splicingConn can send.
type splicedBody struct {
	*framed
	pipeSize int
	sent     bool
	spliced  atomic.Int64 // bytes of the file that the socket took; an early answer is read while it grows
}

// Read gives the end of the body to net/http, which looks for it after the body was sent.
func (b *splicedBody) Read([]byte) (int, error) {
	if b.sent {
		return 0, io.EOF
	}
	return 0, errors.New("net/http reads the body instead of handing it to the connection: this way needs another release of Go")
}

func (b *splicedBody) Close() error { return b.file.Close() }

// splicingConn is a TCP connection that sends a splicedBody by splice.
type splicingConn struct {
	*net.TCPConn
	raw syscall.RawConn
}

// useSplice makes the transport's connections splicing ones.
func useSplice(transport *http.Transport) error {
	if transport.DialContext != nil {
		return errors.New("the transport has a dialer already")
	}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		tcp, ok := connection.(*net.TCPConn)
		if !ok {
			return connection, nil
		}
		raw, err := tcp.SyscallConn()
		return splicingConn{tcp, raw}, err
	}
	return nil
}

// ReadFrom is where net/http hands over a request's body of known length.
func (c splicingConn) ReadFrom(from io.Reader) (int64, error) {
	limited, ok := from.(*io.LimitedReader)
	if !ok {
		return c.TCPConn.ReadFrom(from)
	}
	body, ok := limited.R.(*splicedBody)
	if !ok {
		return c.TCPConn.ReadFrom(from)
	}
	sent, err := c.send(body)
	limited.N -= sent
	return sent, err
}

func (c splicingConn) send(body *splicedBody) (sent int64, err error) {
	body.sent = true
	n, err := c.Write(body.head)
	sent += int64(n)
	if err != nil {
		return sent, err
	}
	err = c.spliceFile(body)
	sent += body.spliced.Load()
	if err != nil {
		return sent, err
	}
	n, err = c.Write(body.tail)
	return sent + int64(n), err
}

// spliceFile moves the file's pages into a pipe, and on from there to the socket, a pipe's fill at a time.
func (c splicingConn) spliceFile(body *splicedBody) (err error) {
	var pipe [2]int
	if err = syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	defer func() { err = errors.Join(err, syscall.Close(pipe[0]), syscall.Close(pipe[1])) }()
	if _, _, failed := syscall.Syscall(syscall.SYS_FCNTL, uintptr(pipe[1]), fSetPipeSize, uintptr(body.pipeSize)); failed != 0 {
		return os.NewSyscallError("fcntl F_SETPIPE_SZ", failed)
	}
	source, err := body.file.SyscallConn()
	if err != nil {
		return err
	}
	closedErr := source.Control(func(file uintptr) {
		for err == nil && body.spliced.Load() < body.size {
			var filled int64
			filled, err = splice(int(file), pipe[1], min(int64(body.pipeSize), body.size-body.spliced.Load()), spliceMove)
			if err == nil && filled == 0 {
				err = fmt.Errorf("%s shrank during its upload: %d bytes declared, %d found", body.file.Name(), body.size, body.spliced.Load())
			}
			if err == nil {
				err = c.drain(pipe[0], filled, body)
			}
		}
	})
	return errors.Join(err, closedErr)
}

// drain moves what the pipe holds to the socket.
func (c splicingConn) drain(pipe int, filled int64, body *splicedBody) (err error) {
	waitErr := c.raw.Write(func(socket uintptr) bool {
		for filled > 0 {
			flags := spliceMove | spliceNonblock
			if body.spliced.Load()+filled < body.size {
				flags |= spliceMore
			}
			var n int64
			n, err = splice(pipe, int(socket), filled, flags)
			if errors.Is(err, syscall.EAGAIN) {
				return false
			}
			if err != nil {
				return true
			}
			filled -= n
			body.spliced.Add(n)
		}
		return true
	})
	if waitErr != nil {
		return waitErr
	}
	return err
}

func splice(from, to int, count int64, flags int) (int64, error) {
	for {
		n, err := syscall.Splice(from, nil, to, nil, int(count), flags)
		if err != syscall.EINTR {
			return n, os.NewSyscallError("splice", err)
		}
	}
}
