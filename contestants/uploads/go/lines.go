package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
)

// answer is what one repetition claims.
type answer struct {
	bytes  int64 // of the file, sent
	status int
}

// serveLines says that it is ready, then does one repetition per line `go` and answers it, until the input ends.
func serveLines(input io.Reader, output io.Writer, count bool, repeat func() (answer, error)) error {
	if _, err := io.WriteString(output, "{\"ready\":true}\n"); err != nil {
		return err
	}
	lines := bufio.NewScanner(input)
	var line []byte
	var before, after runtime.MemStats
	for lines.Scan() {
		if lines.Text() != "go" {
			line = failure(line, fmt.Errorf("a line that is no command: %q; there is `go`", lines.Text()))
		} else {
			if count {
				runtime.ReadMemStats(&before)
			}
			done, err := repeat()
			if count {
				runtime.ReadMemStats(&after)
			}
			switch {
			case err != nil:
				line = failure(line, err)
			case count:
				line = fmt.Appendf(line[:0], `{"bytes":%d,"status":%d,"allocated_bytes":%d,"allocations":%d,"heap_bytes":%d}`, done.bytes, done.status,
					after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs, after.HeapAlloc)
			default:
				line = fmt.Appendf(line[:0], `{"bytes":%d,"status":%d}`, done.bytes, done.status)
			}
		}
		if _, err := output.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

func failure(line []byte, err error) []byte {
	text, encodingErr := json.Marshal(map[string]string{"error": err.Error()})
	if encodingErr != nil {
		return append(line[:0], `{"error":"an error whose text is no JSON"}`...)
	}
	return append(line[:0], text...)
}
