package sendform

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// unknown is the length of a stream, and of a body that holds one.
const unknown = -1

// ShrunkError says that a file had fewer bytes while it was sent than when the request was made. What was declared can't
// be sent any more, so the request fails and its connection is closed.
type ShrunkError struct {
	Path     string
	Declared int64 // bytes when the request was made
	Sent     int64 // bytes that were there
}

func (e *ShrunkError) Error() string {
	return fmt.Sprintf("sendform: %s shrank during its upload: %d bytes declared, %d found; send it again when nobody writes to it", e.Path, e.Declared, e.Sent)
}

// Unwrap lets errors.Is(err, io.ErrUnexpectedEOF) hold.
func (e *ShrunkError) Unwrap() error { return io.ErrUnexpectedEOF }

// segment is a run of bytes of a body: literal ones or, if file is set, a file's.
type segment struct {
	literal []byte
	file    *os.File
	owned   bool  // the body has opened the file, and closes it
	length  int64 // unknown for a stream
}

// body is a form being sent. One goroutine reads or sends it; Close may come from any other at any time, as it does
// when a request is cancelled: os.File keeps a descriptor alive while it is in use.
type body struct {
	segments []segment
	counts   *Counts
	length   int64 // of all segments, unknown if one is

	at     int   // the segment to go on with
	offset int64 // bytes of it that are done
	closed atomic.Bool

	// room holds, within the body's own allocation, what a form with one file needs.
	room struct {
		segments    [3]segment
		literal     [384]byte
		contentType [1]string
	}
}

func (b *body) literal(bytes []byte) {
	b.append(segment{literal: bytes, length: int64(len(bytes))})
}

func (b *body) append(s segment) {
	b.segments = append(b.segments, s)
	if s.length == unknown || b.length == unknown {
		b.length = unknown
	} else {
		b.length += s.length
	}
}

// open adds a part's file with the size that it has now.
func (b *body) open(part *Part) error {
	s := segment{file: part.file}
	if s.file == nil {
		file, err := os.Open(part.path)
		if err != nil {
			return fmt.Errorf("sendform: part %q: %w", part.Name, err)
		}
		s.file, s.owned = file, true
	}
	info, err := s.file.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		s.length = info.Size()
	case info.IsDir():
		err = &os.PathError{Op: "upload", Path: s.file.Name(), Err: errors.New("is a directory")}
	default:
		s.length = unknown
	}
	b.append(s)
	if err != nil {
		return fmt.Errorf("sendform: part %q: %w", part.Name, err)
	}
	return nil
}

// again is GetBody: the same bytes from their beginning, for a redirect or a new connection. The first body may be closed
// by now, so the files that belong to it are opened anew; they may have grown, but not shrunk.
func (b *body) again() (io.ReadCloser, error) {
	next := &body{counts: b.counts, length: b.length, segments: make([]segment, 0, len(b.segments))}
	for _, s := range b.segments {
		if !s.owned {
			next.segments = append(next.segments, s)
			continue
		}
		file, err := os.Open(s.file.Name())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sendform: to send the form again: %w", err), next.Close())
		}
		s.file = file
		next.segments = append(next.segments, s)
		info, err := file.Stat()
		if err == nil && info.Size() < s.length {
			err = &ShrunkError{Path: file.Name(), Declared: s.length, Sent: info.Size()}
		}
		if err != nil {
			return nil, errors.Join(err, next.Close())
		}
	}
	return next, nil
}

// Close closes the files that the body has opened. Only the first call does anything.
func (b *body) Close() error {
	if !b.closed.CompareAndSwap(false, true) {
		return nil
	}
	var err error
	for i := range b.segments {
		if s := &b.segments[i]; s.owned {
			err = errors.Join(err, s.file.Close())
		}
	}
	return err
}

// current steps over finished segments; nil at the body's end.
func (b *body) current() *segment {
	for b.at < len(b.segments) {
		s := &b.segments[b.at]
		if s.length == unknown || b.offset < s.length {
			return s
		}
		b.at, b.offset = b.at+1, 0
	}
	return nil
}

// Read is the way for every connection but ours: TLS, HTTP/2, chunks.
func (b *body) Read(to []byte) (int, error) {
	s := b.current()
	if s == nil {
		return 0, io.EOF
	}
	n, err := s.read(to, b.offset)
	b.offset += int64(n)
	if b.counts != nil {
		b.counts.Copied.Add(int64(n))
	}
	if err == io.EOF {
		err = nil
		switch {
		case s.length == unknown:
			b.at, b.offset = b.at+1, 0
		case n == 0 && len(to) > 0:
			err = b.shrunk(s)
		}
	}
	return n, err
}

// read copies bytes from offset on; io.EOF only says that the file has none beyond them.
func (s *segment) read(to []byte, offset int64) (int, error) {
	switch {
	case s.file == nil:
		return copy(to, s.literal[offset:]), nil
	case s.length == unknown:
		return s.file.Read(to)
	default:
		return s.file.ReadAt(to[:min(int64(len(to)), s.length-offset)], offset)
	}
}

func (b *body) shrunk(s *segment) error {
	return &ShrunkError{Path: s.file.Name(), Declared: s.length, Sent: b.offset}
}
