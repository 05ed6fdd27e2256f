package xmldoc

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"wayside/internal/feeds/format"
)

// Counted work, in measured nanoseconds.
const (
	byteWork    = 10  // of a document
	tokenWork   = 90  // a tag, a text or a comment
	attrWork    = 200 // with the check that it occurs once
	visitWork   = 3   // a node that a lookup visits
	bytesCopied = 8   // bytes of a text per nanosecond
)

// Reader reads one document, once.
type Reader struct {
	dec     *xml.Decoder
	budget  *format.Budget
	open    []xml.Name // elements that are not closed yet
	current xml.StartElement
	root    bool // the root element was found
	tree    tree
}

// New returns a reader of a document. A nil budget bounds nothing.
func New(r io.Reader, budget *format.Budget) *Reader {
	text, utf16 := format.Decoded(r)
	dec := xml.NewDecoder(bufio.NewReaderSize(&guard{r: text, budget: budget}, 64<<10))
	dec.CharsetReader = func(label string, input io.Reader) (io.Reader, error) { return decoded(label, input, utf16) }
	return &Reader{dec: dec, budget: budget}
}

// decoded reads a document in the encoding that it declares.
func decoded(label string, input io.Reader, utf16 bool) (io.Reader, error) {
	label = strings.ToLower(strings.TrimSpace(label))
	if utf16 != strings.HasPrefix(label, "utf-16") {
		return nil, &format.Error{Fault: format.BadCharset}
	}
	switch label {
	case "utf-16", "utf-16le", "utf-16be", "us-ascii":
		return input, nil
	case "iso-8859-1", "latin1":
		return charmap.ISO8859_1.NewDecoder().Reader(input), nil
	case "iso-8859-15", "latin-9":
		return charmap.ISO8859_15.NewDecoder().Reader(input), nil
	case "windows-1252", "cp1252":
		return charmap.Windows1252.NewDecoder().Reader(input), nil
	}
	return nil, &format.Error{Fault: format.BadCharset}
}

// Next advances to the beginning of the next element, at any depth, and returns its local name. At the end of the document it fails with
// io.EOF.
func (r *Reader) Next() (name string, err error) {
	for {
		token, err := r.token()
		if err != nil {
			return "", err
		}
		if start, ok := token.(xml.StartElement); ok {
			r.current = start
			return start.Name.Local, nil
		}
	}
}

// Depth returns the depth of the current element; the root has depth 1.
func (r *Reader) Depth() int { return len(r.open) }

// Attr returns the value of the current element's attribute with the local name.
func (r *Reader) Attr(local string) string { return attr(r.current.Attr, local) }

func attr(attrs []xml.Attr, local string) string {
	for i := range attrs {
		if attrs[i].Name.Local == local && attrs[i].Name.Space != "xmlns" {
			return attrs[i].Value
		}
	}
	return ""
}

// token reads the next token and checks the nesting of elements.
func (r *Reader) token() (xml.Token, error) {
	token, err := r.dec.RawToken()
	if err != nil {
		return nil, r.wrong(err)
	}
	if !r.budget.Spend(tokenWork) {
		return nil, r.wrong(r.budget.Err())
	}
	switch t := token.(type) {
	case xml.StartElement:
		switch {
		case !r.budget.Spend(attrWork * len(t.Attr)):
			return nil, r.wrong(r.budget.Err())
		case len(r.open) == 0 && r.root:
			return nil, r.Error(format.BadXML) // a second root
		case len(r.open) == format.MaxDepth:
			return nil, r.Error(format.TooDeep)
		case twice(t.Attr):
			return nil, r.Error(format.BadXML)
		}
		r.root = true
		r.open = append(r.open, t.Name)
	case xml.EndElement:
		if len(r.open) == 0 || r.open[len(r.open)-1] != t.Name {
			return nil, r.Error(format.BadXML)
		}
		r.open = r.open[:len(r.open)-1]
	case xml.CharData:
		if text := bytes.TrimLeft(t, " \t\r\n"); len(r.open) == 0 && len(text) > 0 {
			line, _ := r.dec.InputPos() // after the text; an error for a document that is not XML should name the line where it begins
			return nil, &format.Error{Fault: format.BadXML, Line: line - bytes.Count(text, []byte{'\n'})}
		}
	case xml.Directive:
		return nil, r.Error(format.HasDTD) // cannot happen: the guard refuses document types
	}
	return token, nil
}

// twice reports whether an attribute occurs twice in one tag.
func twice(attrs []xml.Attr) bool {
	if len(attrs) > 32 {
		seen := make(map[xml.Name]bool, len(attrs))
		for i := range attrs {
			seen[attrs[i].Name] = true
		}
		return len(seen) < len(attrs)
	}
	for i := range attrs {
		for j := range i {
			if attrs[i].Name == attrs[j].Name {
				return true
			}
		}
	}
	return false
}

// Error returns an error for a fault at the current line of the document.
func (r *Reader) Error(fault format.Fault) error {
	line, _ := r.dec.InputPos()
	return &format.Error{Fault: fault, Line: line}
}

// wrong converts an error of the decoder to the fault of the document, and returns errors of the underlying reader as they are. It drops
// the decoder's own texts, which quote the document.
func (r *Reader) wrong(err error) error {
	var bad *format.Error
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &bad):
		if bad.Line == 0 {
			return r.Error(bad.Fault)
		}
		return bad
	case errors.Is(err, io.EOF):
		if len(r.open) > 0 || !r.root {
			return r.Error(format.BadXML)
		}
		return io.EOF
	case errors.As(err, &syntax):
		if syntax.Msg == "invalid UTF-8" {
			return &format.Error{Fault: format.BadCharset, Line: syntax.Line}
		}
		return &format.Error{Fault: format.BadXML, Line: syntax.Line}
	case strings.Contains(err.Error(), "xml: unsupported version"):
		return r.Error(format.BadXML)
	}
	return err
}
