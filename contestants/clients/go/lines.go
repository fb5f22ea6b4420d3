package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// answer is what one repetition claims.
type answer struct {
	bytes  int64 // of the body, read
	status int
}

// repetition is what a line may ask for.
type repetition interface {
	discard() (answer, error)
	save(path string) (answer, error)
}

// serveLines says that it is ready, then does one repetition per line (`go`, `save PATH`) and answers it, until the input
// ends.
func serveLines(input io.Reader, output io.Writer, count bool, repeat repetition) error {
	if _, err := io.WriteString(output, "{\"ready\":true}\n"); err != nil {
		return err
	}
	lines := bufio.NewScanner(input)
	var line []byte
	var before, after runtime.MemStats
	for lines.Scan() {
		if count {
			runtime.ReadMemStats(&before)
		}
		done, err := do(lines.Text(), repeat)
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
		if _, err := output.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

func do(command string, repeat repetition) (answer, error) {
	if command == "go" {
		return repeat.discard()
	}
	if path, found := strings.CutPrefix(command, "save "); found && path != "" {
		return repeat.save(path)
	}
	return answer{}, fmt.Errorf("a line that is no command: %q; there are `go` and `save PATH`", command)
}

func failure(line []byte, err error) []byte {
	text, encodingErr := json.Marshal(map[string]string{"error": err.Error()})
	if encodingErr != nil {
		return append(line[:0], `{"error":"an error whose text is no JSON"}`...)
	}
	return append(line[:0], text...)
}
