package xmldoc

import (
	"bytes"
	"io"

	"wayside/internal/feeds/format"
)

// Bounds of what encoding/xml holds at a time.
const (
	maxTag  = 256 << 10 // bytes of a tag with its attributes
	maxText = format.MaxItemBytes
)

// state is the syntactic position of the guard in the document.
type state uint8

const (
	inText    state = iota
	opened          // after "<", before it is known what begins
	inTag           // outside of quotes
	inSingle        // between single quotes of a tag
	inDouble        // between double quotes of a tag
	inComment       // also in other declarations, which end with "-->", "]]>" or "?>"
)

// guard passes a document on to the decoder, and stops where a token is longer than may be held, or begins a document
// type. It reads bytes, because the characters that begin and end a tag are the same in all supported encodings, UTF-16
// being decoded before.
type guard struct {
	r      io.Reader
	budget *format.Budget
	state  state
	length int    // of the current token
	head   []byte // the bytes after "<" that determine what begins
	ends   string // the end of a comment, a CDATA section or a processing instruction
	tail   []byte // the last bytes of it
	lines  int
	fault  error
}

func (g *guard) Read(p []byte) (int, error) {
	if g.fault != nil {
		return 0, g.fault
	}
	n, err := g.r.Read(p)
	if !g.budget.Spend(byteWork * n) {
		g.fault = g.budget.Err()
		return 0, g.fault
	}
	if fault, at := g.pass(p[:n]); fault != "" {
		g.fault = &format.Error{Fault: fault, Line: 1 + g.lines + bytes.Count(p[:at], []byte{'\n'})}
		return at, g.fault
	}
	g.lines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// pass scans the next bytes, and returns the fault, if any, and its offset.
func (g *guard) pass(p []byte) (format.Fault, int) {
	for i := 0; i < len(p); {
		n := g.step(p[i:])
		g.length += n
		i += n
		switch {
		case g.state == opened && g.isDeclaration():
			return format.HasDTD, i
		case g.state >= inTag && g.state <= inDouble && g.length > maxTag, g.length > maxText:
			return format.TooLarge, i
		}
	}
	return "", 0
}

// isDeclaration reports whether "<!" begins neither a comment nor a CDATA section.
func (g *guard) isDeclaration() bool {
	const comment, section = "!--", "![CDATA["
	head := string(g.head)
	return len(head) > 1 && head[0] == '!' && !isPrefix(head, comment) && !isPrefix(head, section)
}

func isPrefix(head, whole string) bool {
	return len(head) <= len(whole) && whole[:len(head)] == head
}

// step scans the next bytes up to where another state may begin, and returns their number.
func (g *guard) step(p []byte) int {
	switch g.state {
	case inText:
		return g.until(p, '<', opened)
	case opened:
		return g.open(p[0])
	case inTag:
		end := bytes.IndexAny(p, `"'>`)
		if end < 0 {
			return len(p)
		}
		switch p[end] {
		case '"':
			g.state = inDouble
		case '\'':
			g.state = inSingle
		default:
			g.state, g.length = inText, -end-1
		}
		return end + 1
	case inSingle:
		return g.within(p, '\'')
	case inDouble:
		return g.within(p, '"')
	}
	end := bytes.IndexByte(p, '>')
	part := p
	if end >= 0 {
		part = p[:end+1]
	}
	g.tail = append(g.tail, part[max(0, len(part)-len(g.ends)):]...)
	g.tail = g.tail[max(0, len(g.tail)-len(g.ends)):]
	if end >= 0 && string(g.tail) == g.ends {
		g.state, g.length = inText, -len(part)
	}
	return len(part)
}

// until scans to the byte c, after which the next state begins.
func (g *guard) until(p []byte, c byte, next state) int {
	end := bytes.IndexByte(p, c)
	if end < 0 {
		return len(p)
	}
	g.state, g.length, g.head = next, -end-1, g.head[:0]
	return end + 1
}

// within scans to the quote that ends the value of an attribute.
func (g *guard) within(p []byte, quote byte) int {
	end := bytes.IndexByte(p, quote)
	if end < 0 {
		return len(p)
	}
	g.state = inTag
	return end + 1
}

// open scans the next byte after "<", until it is known what begins.
func (g *guard) open(c byte) int {
	g.head = append(g.head, c)
	switch head := string(g.head); {
	case head == "?":
		g.begin("?>")
	case head == "!--":
		g.begin("-->")
	case head == "![CDATA[":
		g.begin("]]>")
	case c == '>' && head[0] != '!':
		g.state, g.length = inText, -1
	case head[0] != '!':
		g.state = inTag
	}
	return 1
}

func (g *guard) begin(ends string) { g.state, g.ends, g.tail = inComment, ends, g.tail[:0] }
