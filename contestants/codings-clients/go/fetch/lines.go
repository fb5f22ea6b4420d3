package fetch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Serve says that it is ready, then does one repetition per line of standard input (`go`, `save PATH`) and answers it on
// standard output, until the input ends.
func (c *Client) Serve(settings Settings) error {
	c.settings = settings
	if _, err := io.WriteString(os.Stdout, "{\"ready\":true}\n"); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	var line []byte
	var before, after runtime.MemStats
	for lines.Scan() {
		if settings.Count {
			runtime.ReadMemStats(&before)
		}
		done, err := c.do(lines.Text())
		line = line[:0]
		if err != nil {
			line = failure(line, err)
		} else {
			line = done.appendTo(line)
		}
		if settings.Count && err == nil {
			runtime.ReadMemStats(&after)
			line = fmt.Appendf(line[:len(line)-1], `,"allocated_bytes":%d,"allocations":%d,"heap_bytes":%d}`,
				after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs, after.HeapAlloc)
		}
		if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (c *Client) do(command string) (answer, error) {
	if command == "go" {
		return c.repeat("")
	}
	if path, found := strings.CutPrefix(command, "save "); found && path != "" {
		return c.repeat(path)
	}
	return answer{}, fmt.Errorf("a line that is no command: %q; there are `go` and `save PATH`", command)
}

// appendTo writes the answer's JSON; of a response without success there is nothing but its status and length.
func (a answer) appendTo(line []byte) []byte {
	if a.coding == "" {
		return fmt.Appendf(line, `{"status":%d,"bytes":%d}`, a.status, a.bytes)
	}
	return fmt.Appendf(line, `{"status":%d,"bytes":%d,"records":%d,"coding":%q,"transfer_ns":%d,"decode_ns":%d,"parse_ns":%d}`,
		a.status, a.bytes, a.records, a.coding, a.transfer, a.decode, a.parse)
}

func failure(line []byte, err error) []byte {
	text, encodingErr := json.Marshal(map[string]string{"error": err.Error()})
	if encodingErr != nil {
		return append(line, `{"error":"an error whose text is no JSON"}`...)
	}
	return append(line, text...)
}
