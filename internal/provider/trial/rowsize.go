package trial

import (
	"wayside/internal/ingest"
	"wayside/internal/mapdata"
)

// maxRow is how many bytes one row may have, the white space beside it included: as many as a whole push (D7.1), so that a
// row is accepted either way or neither. A parser holds a row as a whole: without this limit a body of one row would cost
// several times its size (D6.6).
const maxRow = 16 << 20

// rowSizes measures the rows of an array while the body arrives, without a parser. Package ingest finds what is not JSON.
type rowSizes struct {
	limit    int // bytes of one row
	first    byte
	depth    int
	inString bool
	escaped  bool
	row      int // bytes since the last row ended
}

// pass looks at the next part, and fails when a row is too large.
func (s *rowSizes) pass(part []byte) error {
	last := 0 // where the current row began in this part
	for i, c := range part {
		switch {
		case s.inString:
			s.inString = s.escaped || c != '"'
			s.escaped = c == '\\' && !s.escaped
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			continue
		case c == '"':
			s.inString = true
		case c == '[' || c == '{':
			s.depth++
		case c == ']' || c == '}':
			s.depth--
		case c == ',' && s.depth == 1:
			s.row, last = 0, i+1
		}
		if s.first == 0 {
			s.first = c
		}
	}
	if s.row += len(part) - last; s.row > s.limit {
		return s.tooLarge()
	}
	return nil
}

func (s *rowSizes) tooLarge() error {
	switch s.first {
	case '[', 0:
		return &Failure{
			Outcome: mapdata.OutcomeTooLarge, Reason: mapdata.ReasonRow, Connected: true,
			Advice: "One row, or the white space beside it, has more than 16 MiB. Publish shorter rows.",
		}
	case '{':
		return DecodeFailure(ingest.ErrNotArray, 0)
	}
	return DecodeFailure(ingest.ErrMalformed, 0)
}
