package main

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// coding makes one content coding; its encoders are kept by level and used again.
type coding struct {
	name                     string
	lowest, highest, initial int
	encode                   func(level int, body []byte, into *bytes.Buffer) error
}

// writer is what the encoders of gzip, zlib and br have in common.
type writer interface {
	io.WriteCloser
	Reset(io.Writer)
}

// codings stand in the order in which they are preferred where the client has no preference.
var codings = []*coding{
	{"zstd", 1, 11, 3, zstandard()},
	{"br", brotli.BestSpeed, brotli.BestCompression, brotli.DefaultCompression, pooled(func(level int) (writer, error) {
		return brotli.NewWriterLevel(nil, level), nil
	})},
	{"gzip", gzip.BestSpeed, gzip.BestCompression, gzip.DefaultCompression, pooled(func(level int) (writer, error) {
		return gzip.NewWriterLevel(nil, level)
	})},
	{"deflate", zlib.BestSpeed, zlib.BestCompression, zlib.DefaultCompression, pooled(func(level int) (writer, error) {
		return zlib.NewWriterLevel(nil, level)
	})},
}

// choose returns the coding with the highest q-value, or nil for none: no Accept-Encoding, or nothing there that is known.
func choose(accepted []string) *coding {
	var chosen *coding
	best := 0.0
	asked := strings.Join(accepted, ",")
	for _, each := range codings {
		if quality := qualityOf(each.name, asked); quality > best {
			chosen, best = each, quality
		}
	}
	if chosen != nil && qualityOf("identity", asked) > best {
		return nil
	}
	return chosen
}

// qualityOf returns the q-value of a coding in an Accept-Encoding field, 0 where it is not named.
func qualityOf(name, asked string) float64 {
	for element := range strings.SplitSeq(asked, ",") {
		token, weight, weighted := strings.Cut(element, ";")
		if !strings.EqualFold(strings.TrimSpace(token), name) {
			continue
		}
		if !weighted {
			return 1
		}
		_, number, _ := strings.Cut(weight, "=")
		quality, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return 0
		}
		return quality
	}
	return 0
}

// pooled keeps writers apart by level, from gzip's and zlib's -1 (their own default) to br's 11.
func pooled(create func(level int) (writer, error)) func(int, []byte, *bytes.Buffer) error {
	var pools [13]sync.Pool
	return func(level int, body []byte, into *bytes.Buffer) error {
		pool := &pools[level+1]
		kept, _ := pool.Get().(writer)
		if kept == nil {
			var err error
			if kept, err = create(level); err != nil {
				return err
			}
		}
		defer pool.Put(kept)
		kept.Reset(into)
		if _, err := kept.Write(body); err != nil {
			return err
		}
		return kept.Close()
	}
}

// zstandard codes whole bodies; one encoder of each of the library's four speeds serves all goroutines.
func zstandard() func(int, []byte, *bytes.Buffer) error {
	var encoders [zstd.SpeedBestCompression + 1]func() (*zstd.Encoder, error)
	for speed := zstd.SpeedFastest; speed <= zstd.SpeedBestCompression; speed++ {
		encoders[speed] = sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(speed))
		})
	}
	return func(level int, body []byte, into *bytes.Buffer) error {
		encoder, err := encoders[zstd.EncoderLevelFromZstd(level)]()
		if err != nil {
			return err
		}
		into.Grow(encoder.MaxEncodedSize(len(body)))
		_, err = into.Write(encoder.EncodeAll(body, into.AvailableBuffer()))
		return err
	}
}
