package sendform

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// burst is how many bytes one hold of the connection may send: between two of them a closed connection or a passed
// deadline is noticed even if the peer reads so fast that the socket never fills.
const burst = 16 << 20

// errCannotSendfile says that the kernel can't send this file to this socket, and has sent nothing of it.
var errCannotSendfile = errors.New("sendform: no sendfile from this file")

// conn is a TCP connection that knows the bodies of this package. It has every method of *net.TCPConn.
//
// The functions that RawConn asks for, and what they work on, belong to the connection: made once, they cost no
// allocation per upload.
type conn struct {
	*net.TCPConn
	raw      syscall.RawConn
	sendfile func(socket, file int, offset *int64, count int) (int, error)

	mutex sync.Mutex // of what follows: one body at a time
	job   job
	step  func(socket uintptr) (done bool)
	hold  func(file uintptr)
}

// job is a run of bytes that has to go out: literal ones, or a file's if there are none.
type job struct {
	literal []byte
	flags   int
	file    int
	offset  int64 // in the file; sendfile moves it on
	count   int64 // bytes to send
	sent    int64 // bytes that the kernel has taken
	err     error // of the last call; io.EOF: the file ends before its count
	waitErr error // of the wait for the socket: closed, or its deadline passed
}

func wrap(connection net.Conn) net.Conn {
	tcp, ok := connection.(*net.TCPConn)
	if !ok {
		return connection
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return connection
	}
	c := &conn{TCPConn: tcp, raw: raw, sendfile: syscall.Sendfile}
	c.step = c.push
	c.hold = c.pushFrom
	return c
}

// ReadFrom is where net/http hands over a request's body.
func (c *conn) ReadFrom(from io.Reader) (int64, error) {
	if limited, ok := from.(*io.LimitedReader); ok {
		if form, ok := limited.R.(*body); ok {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			defer func() { c.job = job{} }() // hold no body's memory while the connection is idle
			return c.send(form, limited)
		}
	}
	return c.TCPConn.ReadFrom(from)
}

// send writes what is left of a form, up to the limit, and lowers the limit as io.Copy would.
func (c *conn) send(form *body, limited *io.LimitedReader) (total int64, err error) {
	for err == nil && limited.N > 0 {
		s := form.current()
		if s == nil {
			break
		}
		count := min(s.length-form.offset, limited.N)
		var sent int64
		switch {
		case s.length == unknown:
			err = errCannotSendfile
		case s.file == nil:
			sent, err = c.write(s.literal[form.offset:form.offset+count], limited.N > count)
			form.count(0, sent)
		default:
			sent, err = c.sendFile(s.file, form.offset, count)
			form.count(sent, 0)
		}
		form.offset += sent
		limited.N -= sent
		total += sent
		switch err {
		case io.EOF:
			err = form.shrunk(s)
		case errCannotSendfile:
			// The rest is read and written; the form goes on from where it stands.
			sent, err = c.TCPConn.ReadFrom(limited)
			return total + sent, err
		}
	}
	return total, err
}

// write sends literal bytes. With more to come it leaves the kernel the choice to wait for them: the head of a part
// shares a packet with the beginning of its file.
func (c *conn) write(bytes []byte, more bool) (sent int64, err error) {
	c.job = job{literal: bytes, flags: syscall.MSG_NOSIGNAL, count: int64(len(bytes))}
	if more {
		c.job.flags |= syscall.MSG_MORE
	}
	c.job.waitErr = c.raw.Write(c.step)
	return c.job.sent, c.failed("sendmsg")
}

// sendFile sends count bytes of a file from offset on. io.EOF: the file ends before. Neither the file's descriptor nor
// the socket's can be closed, and so come to mean another file, before a burst is over.
func (c *conn) sendFile(file *os.File, offset, count int64) (total int64, err error) {
	source, err := file.SyscallConn()
	if err != nil {
		return 0, &os.PathError{Op: "sendfile", Path: file.Name(), Err: err}
	}
	for total < count && err == nil {
		c.job = job{offset: offset + total, count: min(burst, count-total)}
		if source.Control(c.hold) != nil {
			return total, &os.PathError{Op: "sendfile", Path: file.Name(), Err: os.ErrClosed}
		}
		total += c.job.sent
		switch {
		case c.job.waitErr != nil:
		case c.job.err == io.EOF:
			return total, io.EOF
		case total == 0 && (c.job.err == syscall.EINVAL || c.job.err == syscall.ENOSYS || c.job.err == syscall.EOPNOTSUPP):
			return 0, errCannotSendfile
		}
		err = c.failed("sendfile")
	}
	return total, err
}

// pushFrom runs the job from the file with this descriptor.
func (c *conn) pushFrom(file uintptr) {
	c.job.file = int(file)
	c.job.waitErr = c.raw.Write(c.step)
}

// push goes on with the job. It isn't done while the socket is full; then it is called again when there is room.
func (c *conn) push(socket uintptr) (done bool) {
	j := &c.job
	for j.sent < j.count {
		var n int
		if j.literal != nil {
			n, j.err = syscall.SendmsgN(int(socket), j.literal[j.sent:], nil, nil, j.flags)
		} else {
			n, j.err = c.sendfile(int(socket), j.file, &j.offset, int(j.count-j.sent))
		}
		switch {
		case n > 0:
			j.sent += int64(n)
		case j.err == syscall.EAGAIN:
			return false
		case j.err == syscall.EINTR:
			j.err = nil
		case j.err == nil:
			j.err = io.EOF
			return true
		default:
			return true
		}
	}
	return true
}

// failed names the system call that failed, as package net does. A failed wait for the socket comes first, for it knows
// of a closed connection and of a passed deadline.
func (c *conn) failed(call string) error {
	switch {
	case c.job.waitErr != nil:
		return c.job.waitErr
	case c.job.err != nil:
		return &net.OpError{Op: "write", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(call, c.job.err)}
	}
	return nil
}

func (b *body) count(sendfile, copied int64) {
	if b.counts != nil {
		b.counts.Sendfile.Add(sendfile)
		b.counts.Copied.Add(copied)
	}
}
