package match

import (
	"errors"
	"fmt"

	"wayside/internal/roads/graph"
)

// ErrBadSections is returned for sections that are not those of an index of the graph.
var ErrBadSections = errors.New("the index of roads is damaged")

// Sections returns the arrays as bytes for a file: little-endian, each to be placed at a multiple of
// graph.SectionAlignment. They share the index's memory; the caller must not change them.
func (x *Index) Sections() []graph.Section {
	return []graph.Section{
		{Name: "match.pieces", Bytes: graph.SectionBytes(x.pieces)},
		{Name: "match.boxes", Bytes: graph.SectionBytes(x.boxes)},
	}
}

// FromSections makes an index of a graph from the bytes that Sections returned, by name. It uses them as its arrays, so
// they must stay unchanged while the index is used. It returns ErrBadSections if they are inconsistent: forged bytes may
// hide roads, but never lead beyond an array.
func FromSections(g *graph.Graph, section func(name string) ([]byte, bool)) (*Index, error) {
	x := newIndex(g)
	r := graph.SectionReader{Section: section, Damaged: ErrBadSections}
	graph.ReadSection(&r, "match.pieces", &x.pieces)
	graph.ReadSection(&r, "match.boxes", &x.boxes)
	if r.Err == nil {
		r.Err = x.check()
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return x, nil
}

// check finds whatever would lead a search beyond an array, and pieces that would be found twice.
func (x *Index) check() error {
	if len(x.pieces) != len(x.graph.Pieces) || len(x.boxes) != int(x.levels[len(x.levels)-1]) {
		return fmt.Errorf("%w: it is not for as many pieces as there are", ErrBadSections)
	}
	seen := make([]uint64, (len(x.pieces)+63)/64)
	for _, piece := range x.pieces {
		if uint64(piece) >= uint64(len(x.pieces)) || seen[piece/64]&(1<<(piece%64)) != 0 {
			return fmt.Errorf("%w: piece %d", ErrBadSections, piece)
		}
		seen[piece/64] |= 1 << (piece % 64)
	}
	return nil
}
