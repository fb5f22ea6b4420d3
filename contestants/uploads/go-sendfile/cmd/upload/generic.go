package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// unlimiting is a TCP connection that takes a body with a WriterTo past net/http's LimitedReader, so that io.MultiReader
// hands it the *os.File itself and the standard library's own sendfile takes over.
type unlimiting struct {
	*net.TCPConn
}

func dialGeneric(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := new(net.Dialer).DialContext(ctx, network, address)
	if tcp, ok := connection.(*net.TCPConn); ok {
		return unlimiting{tcp}, nil
	}
	return connection, err
}

// ReadFrom sends all that the body has: if that isn't what Content-Length says, the connection can't be used any more,
// which the error makes net/http see to.
func (c unlimiting) ReadFrom(from io.Reader) (int64, error) {
	limited, ok := from.(*io.LimitedReader)
	if !ok {
		return c.TCPConn.ReadFrom(from)
	}
	body, ok := limited.R.(io.WriterTo)
	if !ok {
		return c.TCPConn.ReadFrom(from)
	}
	declared := limited.N
	sent, err := body.WriteTo(c.TCPConn)
	limited.N -= min(sent, declared)
	if err == nil && sent != declared {
		err = fmt.Errorf("%d bytes declared, %d sent: the file changed", declared, sent)
	}
	return sent, err
}

// generic uploads what io.MultiReader joins, with a known length, by the standard library's sendfile.
func (u *uploader) generic() (answer, error) {
	var framing bytes.Buffer
	writer := multipart.NewWriter(&framing)
	_, err := writer.CreateFormFile("file", filepath.Base(u.path))
	prefix := framing.Len()
	if err = errors.Join(err, writer.Close()); err != nil {
		return answer{}, err
	}
	file, err := os.Open(u.path)
	if err != nil {
		return answer{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return answer{}, errors.Join(err, file.Close())
	}
	body := io.MultiReader(bytes.NewReader(framing.Bytes()[:prefix]), file, bytes.NewReader(framing.Bytes()[prefix:]))
	request, err := http.NewRequest(http.MethodPost, u.url, closing{body, file})
	if err != nil {
		return answer{}, errors.Join(err, file.Close())
	}
	request.ContentLength = info.Size() + int64(framing.Len())
	request.Header.Set("Content-Type", writer.FormDataContentType())
	status, err := u.do(request)
	return answer{bytes: info.Size(), status: status}, err
}

// closing is a body that keeps the WriterTo of its reader and closes the file behind it.
type closing struct {
	io.Reader
	file *os.File
}

func (c closing) WriteTo(to io.Writer) (int64, error) {
	if body, ok := c.Reader.(io.WriterTo); ok {
		return body.WriteTo(to)
	}
	return io.Copy(to, c.Reader)
}

func (c closing) Close() error { return c.file.Close() }
