package geocode

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Bounds of the search for crossings.
const (
	maxDivisions  = 3      // places at which a query is split into two streets
	streetsASide  = 6      // streets that are tried for each side
	maxPairs      = 12     // pairs of streets whose boxes meet
	maxCrossings  = 3      // in an answer
	farthestNode  = 10_000 // metres from the middle of the common part of two streets
	piecesLooked  = 300    // pieces of the two streets that are considered
	sameCrossing  = 60     // metres within which two crossings are one
	throughOthers = 45     // metres between streets that meet through a link or a roundabout
)

// isBetween reports whether a word can stand between the names of two crossing streets.
func isBetween(word string) bool {
	switch word {
	case "and", "und", "et", "en", "y", "e", "ed", "u", "i", "og", "och", "at", "corner", "ecke", "esquina", "angolo", "hoek", "coin":
		return true
	}
	return false
}

// dividers are characters that can stand between two streets in any language.
const dividers = "&/@+×"

// divide calls try with each pair of sides of a query that may name two streets.
func divide(text string, try func(left, right string)) {
	if i := strings.IndexAny(text, dividers); i > 0 {
		if left, right := text[:i], strings.TrimLeft(text[i:], dividers); strings.ContainsFunc(left, unicode.IsLetter) && strings.ContainsFunc(right, unicode.IsLetter) {
			try(left, right)
		}
		return
	}
	left, found := 0, 0
	for word := range strings.FieldsSeq(text) {
		left += strings.Index(text[left:], word)
		if isBetween(strings.ToLower(word)) && left > 0 {
			try(text[:left], text[left+len(word):])
			if found++; found == maxDivisions {
				return
			}
		}
		left += len(word)
	}
}

// crossings returns the places where two streets in a query meet, the best first.
func (x *Index) crossings(s *scratch, q *Query) (best []hit) {
	if !q.Filter.allows(LayerOther) || len(q.Filter.Tags) > 0 {
		return nil
	}
	divide(q.Text, func(left, right string) {
		if len(best) > 0 {
			return
		}
		first := x.streetHits(s, q, left+" ")
		if len(first) == 0 {
			return
		}
		second := x.streetHits(s, q, right)
		pairs := 0
		for i := range first {
			for k := range second {
				if common, ok := x.common(first[i].id, second[k].id); ok && pairs < maxPairs {
					pairs++
					best = x.addCrossings(best, &first[i], &second[k], &common, q)
				}
			}
		}
	})
	slices.SortStableFunc(best, func(a, b hit) int { return -cmp.Compare(a.score, b.score) })
	return best[:min(len(best), maxCrossings, q.Limit)]
}

// streetHits returns the streets of the graph that fit a text best.
func (x *Index) streetHits(s *scratch, q *Query, text string) []hit {
	side := Query{Text: text, Near: q.Near, Biased: q.Biased, Limit: streetsASide, Filter: Filter{Layers: 1 << LayerStreet}}
	s.begin(x, &side)
	if len(s.tokens) == 0 {
		return nil
	}
	for i := range s.tokens {
		s.tokens[i].house, s.tokens[i].suffix, s.tokens[i].elsewhere = false, false, false // here, numbers are parts of names
	}
	x.mark(s)
	x.gather(s, 0)
	s.sortHits()
	hits := slices.DeleteFunc(slices.Clone(s.hits), func(h hit) bool { return x.documents[h.id].Name&ownText != 0 })
	return hits[:min(len(hits), streetsASide)]
}

// end is an end of a piece of a street.
type end struct {
	node int64
	at   graph.Position
}

// common returns the intersection of the boxes of two streets, or the gap between them if it is small. It returns false
// if the streets lie apart or are the same.
func (x *Index) common(a, b uint32) (box, bool) {
	p, r := x.boxOf(a), x.boxOf(b)
	both := box{max(p.west, r.west), max(p.south, r.south), min(p.east, r.east), min(p.north, r.north)}
	const margin = 2 * throughOthers / metresPerUnit
	return both, a != b && float64(both.west-both.east) < margin && float64(both.south-both.north) < margin
}

// addCrossings appends the crossings of two streets.
func (x *Index) addCrossings(dst []hit, a, b *hit, common *box, q *Query) []hit {
	middle, corner := common.middle(), graph.Position{Lng: wrapped(common.east), Lat: int32(common.north)}
	reach := min(metres(middle, corner)+throughOthers, farthestNode)
	namesA, namesB := x.namesOf(a.id), x.namesOf(b.id)
	pieces := x.roads.Nearest(nil, middle.Point(), match.Nearest{Within: reach + throughOthers, Count: piecesLooked, Accept: func(piece uint32) bool {
		name := x.graph.Ways[x.graph.Pieces[piece].Way].Name
		return name.Length > 0 && (slices.Contains(namesA, name.Start) || slices.Contains(namesB, name.Start))
	}})
	var ends [2][]end
	for _, found := range pieces {
		piece := &x.graph.Pieces[found.Piece]
		side := 0
		if slices.Contains(namesB, x.graph.Ways[piece.Way].Name.Start) {
			side = 1
		}
		for _, i := range []uint32{piece.FirstLine, piece.FirstLine + piece.Positions - 1} {
			ends[side] = append(ends[side], end{x.graph.LineNodes[i], x.graph.Line[i]})
		}
	}
	return x.meet(dst, ends, hit{score: a.score + b.score, id: a.id, house: none, other: b.id}, q)
}

// namesOf returns the names of a street's roads, as offsets in the graph's texts.
func (x *Index) namesOf(id uint32) []uint32 {
	names := []uint32{x.documents[id].Name}
	for _, s := range x.spellings {
		if s.Street == id {
			names = append(names, s.Name)
		}
	}
	return names
}

func (x *Index) boxOf(id uint32) box {
	return x.streetExtents[int(id)-x.features].box(x.documents[id].at())
}

// meet appends the nodes that both streets have or, if there is none, the end that is nearest to the other street.
func (x *Index) meet(dst []hit, ends [2][]end, h hit, q *Query) []hit {
	nearest, least := end{}, float64(throughOthers)
	before := len(dst)
	for _, a := range ends[0] {
		for _, b := range ends[1] {
			switch away := metres(a.at, b.at); {
			case a.node == b.node:
				dst = addCrossing(dst, h, a, q)
			case away < least:
				nearest, least = a, away
			}
		}
	}
	if len(dst) == before && least < throughOthers {
		dst = addCrossing(dst, h, nearest, q)
	}
	return dst
}

// addCrossing appends a crossing, unless dst has it already.
func addCrossing(dst []hit, h hit, at end, q *Query) []hit {
	h.node, h.at = newOSMID(osmNode, at.node), at.at
	if q.Within != nil && !q.Within.Contains(h.at.Point()) ||
		slices.ContainsFunc(dst, func(o hit) bool { return metres(o.at, h.at) < sameCrossing }) {
		return dst
	}
	if q.Biased {
		h.score += nearWeight * newFrame(q.Near).nearness(h.at)
	}
	return append(dst, h)
}
