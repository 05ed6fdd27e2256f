package format

import (
	"bufio"
	"errors"
	"io"
)

// IsXML reports whether a document begins as XML does. The first character distinguishes the JSON and XML forms of one
// format.
func IsXML(d Document) (is bool, err error) {
	body, err := d.Open()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	text, _ := Decoded(body)
	r := bufio.NewReader(text)
	for range MaxItemBytes {
		switch c, err := r.ReadByte(); {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case c != ' ' && c != '\n' && c != '\t' && c != '\r':
			return c == '<', nil
		}
	}
	return false, nil
}
