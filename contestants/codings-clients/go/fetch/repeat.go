package fetch

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// Client fetches one URL again and again.
type Client struct {
	Transport http.RoundTripper
	// After is called when a response has been read, where the connection has to end then.
	After func()

	settings Settings
	decoder  decoder
}

// answer is what one repetition claims.
type answer struct {
	bytes, records, status  int
	coding                  string
	transfer, decode, parse time.Duration
}

// repeat does one repetition; the decoded body is written to path, if there is one, outside all stages.
func (c *Client) repeat(path string) (answer, error) {
	began := time.Now()
	status, coding, body, err := c.read()
	received := time.Now()
	if err != nil || status != http.StatusOK {
		return answer{status: status, bytes: len(body)}, err
	}
	whole, err := c.decoder.decode(coding, body)
	decoded := time.Now()
	if err != nil {
		return answer{}, err
	}
	var records []any
	if err := json.Unmarshal(whole, &records); err != nil {
		return answer{}, err
	}
	parsed := time.Now()
	if path != "" {
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			return answer{}, err
		}
	}
	return answer{
		bytes: len(whole), records: len(records), status: status, coding: coding,
		transfer: received.Sub(began), decode: decoded.Sub(received), parse: parsed.Sub(decoded),
	}, nil
}

// read fetches one response whole, as it was sent.
func (c *Client) read() (status int, coding string, body []byte, err error) {
	request, err := http.NewRequest(http.MethodGet, c.settings.URL, nil)
	if err != nil {
		return 0, "", nil, err
	}
	request.Header.Set("Accept-Encoding", c.settings.AcceptEncoding)
	response, err := c.Transport.RoundTrip(request)
	if err != nil {
		return 0, "", nil, err
	}
	body, err = io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	if c.After != nil {
		c.After()
	}
	coding = response.Header.Get("Content-Encoding")
	if coding == "" {
		coding = "identity"
	}
	return response.StatusCode, coding, body, err
}
