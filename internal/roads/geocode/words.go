package geocode

import (
	"encoding/binary"
	"maps"
	"slices"
)

// writeWords writes the words of all names, sorted, with their documents.
func (b *builder) writeWords() {
	for _, word := range slices.Sorted(maps.Keys(b.postings)) {
		b.wordStarts = append(b.wordStarts, uint32(len(b.words)))
		b.listStarts = append(b.listStarts, uint32(len(b.lists)))
		b.words = append(b.words, word...)
		before := uint32(0)
		for _, id := range b.postings[word] {
			b.lists = binary.AppendUvarint(b.lists, uint64(id-before))
			before = id
		}
	}
	b.wordStarts = append(b.wordStarts, uint32(len(b.words)))
	b.listStarts = append(b.listStarts, uint32(len(b.lists)))
}

// wordList is the words of an index.
type wordList struct {
	*arrays
}

func (w wordList) count() int { return len(w.wordStarts) - 1 }

func (w wordList) word(i int) []byte { return w.words[w.wordStarts[i]:w.wordStarts[i+1]] }

// eachDocument calls use with the documents that have a word.
func (w wordList) eachDocument(i int, use func(id uint32)) {
	id := uint32(0)
	for list := w.lists[w.listStarts[i]:w.listStarts[i+1]]; len(list) > 0; {
		if list[0] < 0x80 {
			id, list = id+uint32(list[0]), list[1:]
		} else {
			difference, n := binary.Uvarint(list)
			id, list = id+uint32(difference), list[n:]
		}
		use(id)
	}
}
