package geocode

import (
	"bytes"
	"math"
)

// namesakeMetres is how far a street may be from the place that it may be named after. A driver means a street that is
// farther away itself, because many counties have a Broadway.
const namesakeMetres = 25_000

// placesFirst puts towns and other places before stops of public transport and streets of the same name. A driver who
// asks for "Msida" wants the town, although its stops are nearer; the street "Mdina" leads to the town L-Imdina. The
// hits must be sorted.
func (x *Index) placesFirst(s *scratch) {
	for i := 0; i < len(s.hits); i++ {
		within := math.Inf(1)
		if h := &s.hits[i]; x.isStreet(h.id) && h.house == none && h.interpolated == 0 {
			within = namesakeMetres
		} else if !x.isStop(h) {
			continue
		}
		for k := i + 1; k < len(s.hits); k++ {
			if !x.isPlace(&s.hits[k]) || metres(s.hits[i].at, s.hits[k].at) > within || !x.sameName(s, s.hits[i].id, s.hits[k].id) {
				continue
			}
			place := s.hits[k]
			copy(s.hits[i+1:k+1], s.hits[i:k])
			s.hits[i] = place
			break
		}
	}
}

// isStop reports whether a hit is a stop of public transport.
func (x *Index) isStop(h *hit) bool {
	if x.isStreet(h.id) {
		return false
	}
	switch k := x.kindList[x.documents[h.id].Kind]; k.key {
	case "public_transport", "railway":
		return true
	case "highway":
		return k.value == "bus_stop"
	case "amenity":
		return k.value == "bus_station"
	}
	return false
}

func (x *Index) isPlace(h *hit) bool {
	return !x.isStreet(h.id) && x.documents[h.id].layer() >= LayerLocality
}

// sameName reports whether the default name of a stop or street is a name of a place, in any language and case, where
// one of the two may lack its article. Maltese writes "L-Imsida" for Msida, where "L-" adds an "i" before two
// consonants.
func (x *Index) sameName(s *scratch, other, place uint32) bool {
	s.other.fold(string(x.name(other)), maxWords)
	name, short := joinWords(&s.other, 0), withoutArticle(&s.other)
	for language := -1; language < len(Languages()); language++ {
		s.other.fold(string(x.nameIn(place, language)), maxWords)
		whole, rest := joinWords(&s.other, 0), withoutArticle(&s.other)
		if bytes.Equal(name, whole) || isSameRest(rest, name) || isSameRest(short, whole) {
			return true
		}
	}
	return false
}

// withoutArticle returns the words of a name without its article, or nil if it has none.
func withoutArticle(f *folder) []byte {
	if len(f.words) < 2 || len(f.word(0)) > maxArticle {
		return nil
	}
	return joinWords(f, 1)
}

// isSameRest reports whether a name without its article equals another name.
func isSameRest(rest, name []byte) bool {
	return len(rest) > 0 && (bytes.Equal(name, rest) || len(rest) > 1 && rest[0] == 'i' && bytes.Equal(name, rest[1:]))
}

// maxArticle is the maximum length in bytes of a first word that counts as an article.
const maxArticle = 3

// joinWords returns the words of a text from index from on, each followed by a space.
func joinWords(f *folder, from int) []byte {
	var joined []byte
	for i := from; i < len(f.words); i++ {
		joined = append(append(joined, f.word(i)...), ' ')
	}
	return joined
}
