package format

import (
	"bufio"
	"errors"
	"io"
)

// IsXML says whether a document begins as XML does. JSON and XML of one format are told apart by their first character.
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
