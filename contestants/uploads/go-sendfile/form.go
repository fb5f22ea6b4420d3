package sendform

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// OctetStream is the content type of a file part unless [Part.ContentType] says otherwise.
const OctetStream = "application/octet-stream"

// Form is a form to be sent, in the order in which its parts were added. The zero value is an empty form.
//
// Once it is built, any number of requests may be made of it, also at once.
type Form struct {
	// Counts, if not nil, is added to by every request of this form.
	Counts *Counts

	parts []*Part
}

// Counts tells how the bytes of bodies left the program.
type Counts struct {
	Sendfile atomic.Int64 // bytes of files that the kernel took by sendfile, never in the program's memory
	Copied   atomic.Int64 // all other bytes of bodies: fields, part headers, files that were read to be written
}

// Part is one part of a form. Its fields may be changed until the form's first request.
type Part struct {
	Name        string
	Filename    string // empty for a plain field
	ContentType string // empty for a plain field

	value  string   // of a plain field
	isFile bool     // and no plain field
	path   string   // of a file that each request opens for itself
	file   *os.File // instead of the path: a file that the caller has opened
}

// Field adds a plain field.
func (f *Form) Field(name, value string) {
	f.add(Part{Name: name, value: value})
}

// File adds the file at path, under its base name. Each request opens it for itself, and sends as many bytes as it had
// then.
func (f *Form) File(name, path string) *Part {
	return f.add(Part{Name: name, Filename: filepath.Base(path), ContentType: OctetStream, isFile: true, path: path})
}

// OpenFile adds a file that the caller has opened and keeps open until the last request of the form is done.
//
// A regular file is sent whole, from its first byte; its own offset neither matters nor moves, so that requests may share
// it. What isn't a regular file (a pipe, a socket) is read to its end, in chunks of unknown number: such a form serves
// for one request, which can't be sent again after a redirect.
func (f *Form) OpenFile(name, filename string, file *os.File) *Part {
	return f.add(Part{Name: name, Filename: filename, ContentType: OctetStream, isFile: true, file: file})
}

// add makes the first part and room for two in one allocation.
func (f *Form) add(part Part) *Part {
	if f.parts == nil {
		first := &struct {
			part Part
			room [2]*Part
		}{part: part}
		f.parts = append(first.room[:0], &first.part)
		return &first.part
	}
	further := part // not &part: that would put every first part on the heap as well
	f.parts = append(f.parts, &further)
	return &further
}

// Request opens the files and makes a request of the form, with its Content-Length, Content-Type and GetBody set. The
// boundary is a fresh random one of 32 characters.
//
// The files are closed when the request's body is; any Transport does that. Close request.Body if you never send it.
// A file that can't be opened, or a part that can't be written as a header, is the error.
func (f *Form) Request(ctx context.Context, method, url string) (*http.Request, error) {
	contentType := newContentType()
	plan, err := f.plan(contentType[len(contentTypePrefix):])
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, plan)
	if err != nil {
		return nil, errors.Join(err, plan.Close())
	}
	plan.room.contentType[0] = contentType
	request.Header["Content-Type"] = plan.room.contentType[:]
	request.ContentLength = plan.length
	if plan.length >= 0 {
		request.GetBody = plan.again
	}
	return request, nil
}

const contentTypePrefix = "multipart/form-data; boundary="

// newContentType ends in a boundary of 128 random bits: whoever wrote a file can't have put it there.
func newContentType() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails, it says
	var text [len(contentTypePrefix) + 2*len(random)]byte
	return string(hex.AppendEncode(append(text[:0], contentTypePrefix...), random[:]))
}

// plan lays out the body: the literal bytes between the files, and the opened files.
func (f *Form) plan(boundary string) (*body, error) {
	plan := &body{counts: f.Counts}
	plan.segments = plan.room.segments[:0]
	literal := plan.room.literal[:0]
	begin := 0
	for i, part := range f.parts {
		if err := part.check(); err != nil {
			return nil, errors.Join(err, plan.Close())
		}
		literal = appendHead(literal, part, boundary, i == 0)
		if !part.isFile {
			literal = append(literal, part.value...)
			continue
		}
		// A literal that grows moves; the slice taken here stays on the old memory, whose bytes are final.
		plan.literal(literal[begin:])
		begin = len(literal)
		if err := plan.open(part); err != nil {
			return nil, errors.Join(err, plan.Close())
		}
	}
	literal = append(append(append(literal, "\r\n--"...), boundary...), "--\r\n"...)
	plan.literal(literal[begin:])
	return plan, nil
}

// check refuses what no header may hold. Line breaks in names are escaped, as mime/multipart and browsers do.
func (p *Part) check() error {
	for _, text := range [...]string{p.Name, p.Filename} {
		if strings.ContainsFunc(text, func(c rune) bool { return isControl(c) && c != '\r' && c != '\n' }) {
			return fmt.Errorf("sendform: part %q: a name holds a control character, which no header can carry: %q", p.Name, text)
		}
	}
	if strings.ContainsFunc(p.ContentType, isControl) {
		return fmt.Errorf("sendform: part %q: its content type holds a control character: %q", p.Name, p.ContentType)
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// appendHead writes what comes before a part's bytes, as mime/multipart's Writer writes it.
func appendHead(to []byte, part *Part, boundary string, first bool) []byte {
	if !first {
		to = append(to, "\r\n"...)
	}
	to = append(append(to, "--"...), boundary...)
	to = append(to, "\r\nContent-Disposition: form-data; name=\""...)
	to = appendEscaped(to, part.Name)
	if part.isFile {
		to = append(to, "\"; filename=\""...)
		to = appendEscaped(to, part.Filename)
	}
	to = append(to, "\"\r\n"...)
	if part.ContentType != "" {
		to = append(append(append(to, "Content-Type: "...), part.ContentType...), "\r\n"...)
	}
	return append(to, "\r\n"...)
}

// appendEscaped escapes what would end a quoted string or a header line, as mime/multipart does.
func appendEscaped(to []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; c {
		case '\\', '"':
			to = append(to, '\\', c)
		case '\r':
			to = append(to, "%0D"...)
		case '\n':
			to = append(to, "%0A"...)
		default:
			to = append(to, c)
		}
	}
	return to
}
