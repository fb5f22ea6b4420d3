package fetch

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// decoder undoes content codings; what a library lets one use again is kept.
type decoder struct {
	source bytes.Reader
	gzip   *gzip.Reader
	zlib   io.ReadCloser
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// decode gives the body without its coding.
func (d *decoder) decode(coding string, body []byte) ([]byte, error) {
	if coding == "identity" {
		return body, nil
	}
	if coding == "zstd" {
		if d.zstd == nil {
			var err error
			if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
				return nil, err
			}
		}
		return d.zstd.DecodeAll(body, nil)
	}
	d.source.Reset(body)
	reader, err := d.reader(coding)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// reader gives the one that reads the source.
func (d *decoder) reader(coding string) (io.Reader, error) {
	switch coding {
	case "gzip":
		if d.gzip != nil {
			return d.gzip, d.gzip.Reset(&d.source)
		}
		var err error
		d.gzip, err = gzip.NewReader(&d.source)
		return d.gzip, err
	case "deflate":
		if d.zlib != nil {
			return d.zlib, d.zlib.(zlib.Resetter).Reset(&d.source, nil)
		}
		var err error
		d.zlib, err = zlib.NewReader(&d.source)
		return d.zlib, err
	case "br":
		if d.brotli != nil {
			return d.brotli, d.brotli.Reset(&d.source)
		}
		d.brotli = brotli.NewReader(&d.source)
		return d.brotli, nil
	}
	return nil, fmt.Errorf("there is no decoder for Content-Encoding: %s", coding)
}
