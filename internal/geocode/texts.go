package geocode

import "encoding/binary"

// texts collects texts, each once, each with its length before it. The first is the empty one.
type texts struct {
	all   []byte
	known map[string]uint32
}

func newTexts() *texts { return &texts{all: []byte{0}, known: map[string]uint32{"": 0}} }

// add is where a text lies.
func (t *texts) add(text string) uint32 {
	at, ok := t.known[text]
	if !ok {
		at = uint32(len(t.all))
		t.all = binary.AppendUvarint(t.all, uint64(len(text)))
		t.all = append(t.all, text...)
		t.known[text] = at
	}
	return at
}

// start is where the text itself begins that lies at a place.
func (t *texts) start(at uint32) uint32 {
	_, n := binary.Uvarint(t.all[at:])
	return at + uint32(n)
}
