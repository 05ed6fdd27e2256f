package geocode

import "encoding/binary"

// texts is a set of texts, each preceded by its length. The first is the empty text.
type texts struct {
	all   []byte
	known map[string]uint32
}

func newTexts() *texts { return &texts{all: []byte{0}, known: map[string]uint32{"": 0}} }

// add returns the offset of a text, adding it if necessary.
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

// start returns the offset of a text's first byte, after its length.
func (t *texts) start(at uint32) uint32 {
	_, n := binary.Uvarint(t.all[at:])
	return at + uint32(n)
}
