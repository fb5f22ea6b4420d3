package main

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
)

// inMemory makes the whole body in a bytes.Buffer, as the published comparison does.
func (u *uploader) inMemory() (answer, error) {
	body := new(bytes.Buffer)
	form := multipart.NewWriter(body)
	sent, err := u.writeForm(form)
	if err != nil {
		return answer{}, err
	}
	status, err := u.post(body, int64(body.Len()), form.FormDataContentType())
	return answer{bytes: sent, status: status}, err
}

// ioPipe writes the form from a goroutine into a synchronous pipe that the request reads.
func (u *uploader) ioPipe() (answer, error) {
	reader, writer := io.Pipe()
	return u.piped(reader, writer, func(err error) error { return writer.CloseWithError(err) })
}

// osPipe is the same through a pipe of the kernel. That can't hand an error to its reader, so that a body that could not
// be written would look complete: closing the reader instead makes the request fail.
func (u *uploader) osPipe() (answer, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return answer{}, err
	}
	return u.piped(reader, writer, func(err error) error {
		if err != nil {
			err = reader.Close()
		}
		return errors.Join(err, writer.Close())
	})
}

// written is what became of a form's writer.
type written struct {
	bytes int64
	err   error
}

// piped sends what a goroutine writes; end tells the reader that there is no more, and why.
func (u *uploader) piped(reader io.ReadCloser, writer io.Writer, end func(error) error) (answer, error) {
	form := multipart.NewWriter(writer)
	done := make(chan written, 1)
	go func() {
		sent, err := u.writeForm(form)
		done <- written{sent, errors.Join(err, end(err))}
	}()
	status, err := u.post(reader, -1, form.FormDataContentType())
	// The transport closes the body at the end of every request, also of one that fails: the writer can't hang.
	result := <-done
	// Where the writer closed the reader, or the answer came all the same, the writer's error is the cause.
	if errors.Is(err, os.ErrClosed) || err == nil && status/100 == 2 {
		err = result.err
	}
	return answer{bytes: result.bytes, status: status}, err
}

// writeForm copies the file into the form's one part and ends the form.
func (u *uploader) writeForm(form *multipart.Writer) (sent int64, err error) {
	file, err := os.Open(u.path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	part, err := form.CreateFormFile("file", filepath.Base(u.path))
	if err != nil {
		return 0, err
	}
	// The file's own WriterTo would bring a buffer of 32 KiB instead of this one.
	sent, err = io.CopyBuffer(part, struct{ io.Reader }{file}, make([]byte, u.buffer))
	if err != nil {
		return sent, err
	}
	return sent, form.Close()
}

// multiReader joins the form's head, the file and the form's end to a body of known length.
func (u *uploader) multiReader() (answer, error) {
	framed, err := u.frame()
	if err != nil {
		return answer{}, err
	}
	body := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(framed.head), framed.file, bytes.NewReader(framed.tail)), framed.file}
	status, err := u.post(body, framed.length(), framed.contentType)
	return answer{bytes: framed.size, status: status}, err
}

// framed is an open file and what goes around it.
type framed struct {
	head, tail  []byte
	file        *os.File
	size        int64 // of the file
	contentType string
}

func (f *framed) length() int64 { return int64(len(f.head)) + f.size + int64(len(f.tail)) }

func (u *uploader) frame() (*framed, error) {
	var framing bytes.Buffer
	form := multipart.NewWriter(&framing)
	_, err := form.CreateFormFile("file", filepath.Base(u.path))
	head := framing.Len()
	if err = errors.Join(err, form.Close()); err != nil {
		return nil, err
	}
	file, err := os.Open(u.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &framed{framing.Bytes()[:head], framing.Bytes()[head:], file, info.Size(), form.FormDataContentType()}, nil
}
