package geocode

import (
	"cmp"
	"slices"
)

// Bounds of a search by kind.
const (
	maxKindPhrases = 3 // in a query; a word beyond is one of names
	// maxOfKind is how many places of a kind a search near a position considers: those that are nearest by latitude.
	maxOfKind = 50_000
)

// byKind is the fit of a word that names the kind of a document. It comes after the fits of words.
const byKind = fits

// phraseFit is a word of the query, or a few, for kinds of places.
type phraseFit struct {
	found []kindPhrase
	whole bool // it is not the beginning of a word
}

// openKinds records what is of each kind of the vocabulary. Things are sorted by latitude, so that a search can take
// those that are nearest.
func (x *Index) openKinds() {
	x.vocabulary = newVocabulary()
	x.ofKind = make([][]uint32, len(x.vocabulary.kinds))
	x.named = make([]int16, len(x.kindList))
	for i := range x.kindList {
		x.named[i] = int16(x.vocabulary.kindOf(x.kindList[i].key, x.kindList[i].value)) //nolint:gosec // as many as the vocabulary has
	}
	for id := range uint32(x.features) {
		d := &x.documents[id]
		if k := x.named[d.Kind]; k >= 0 && !d.has(hidden|private) {
			x.ofKind[k] = append(x.ofKind[k], id)
		}
	}
	for _, list := range x.ofKind {
		slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(x.documents[a].Lat, x.documents[b].Lat) })
	}
}

// readPhrases finds the words for kinds among the words of the query, and what may stand around them.
func (s *scratch) readPhrases(x *Index, closed bool) {
	s.phrases = s.phrases[:0]
	for i := range s.tokens {
		s.tokens[i].phrase = noPhrase
	}
	if !s.query.Filter.allows(LayerOther) {
		return
	}
	for i := 0; i < len(s.tokens); i++ {
		s.phraseText = s.phraseText[:0]
		var best phraseFit
		used := 0
		for n := i; n < len(s.tokens); n++ {
			if n > i {
				s.phraseText = append(s.phraseText, ' ')
			}
			s.phraseText = append(s.phraseText, s.fold.word(n)...)
			found, whole, more := x.vocabulary.find(s.phraseText, n == len(s.tokens)-1 && !closed)
			if len(found) > 0 {
				best, used = phraseFit{found, whole}, n-i+1
			}
			if !more {
				break
			}
		}
		if used == 0 || len(s.phrases) == maxKindPhrases {
			continue
		}
		for k := i; k < i+used; k++ {
			s.tokens[k].phrase = len(s.phrases)
		}
		s.phrases = append(s.phrases, best)
		i += used - 1
	}
	if len(s.phrases) == 0 {
		return
	}
	for i := range s.tokens {
		if s.tokens[i].phrase == noPhrase && isNearWord(string(s.fold.word(i))) {
			s.tokens[i].phrase = anyPhrase
		}
	}
}

// The values of token.phrase besides indexes of phrases.
const (
	noPhrase  = -1
	anyPhrase = -2 // a word around one, such as "nearest"
)

// markKinds records the documents of each phrase's kinds.
func (x *Index) markKinds(s *scratch, words int) {
	s.kindBits = slices.Grow(s.kindBits[:0], len(s.phrases)*words)[:len(s.phrases)*words]
	clear(s.kindBits)
	for i := range s.phrases {
		set := s.kindBits[i*words : (i+1)*words]
		for _, p := range s.phrases[i].found {
			for _, id := range x.nearestOfKind(s, p.kind) {
				set[id/64] |= 1 << (id % 64)
			}
		}
	}
}

// nearestOfKind returns what is of a kind: at most maxOfKind, around the latitude of the query if it has one.
func (x *Index) nearestOfKind(s *scratch, kind uint8) []uint32 {
	list := x.ofKind[kind]
	if len(list) <= maxOfKind {
		return list
	}
	if !s.query.Biased {
		return list[:maxOfKind]
	}
	at, _ := slices.BinarySearchFunc(list, s.frame.at.Lat, func(id uint32, lat int32) int { return cmp.Compare(x.documents[id].Lat, lat) })
	first := max(0, min(at-maxOfKind/2, len(list)-maxOfKind))
	return list[first : first+maxOfKind]
}

// kindMask returns which of 64 documents have the kind that a token names, from bit 64*w on.
func (s *scratch) kindMask(t, w, words int) (mask uint64) {
	switch phrase := s.tokens[t].phrase; phrase {
	case noPhrase:
	case anyPhrase:
		for i := range s.phrases {
			mask |= s.kindBits[i*words+w]
		}
	default:
		mask = s.kindBits[phrase*words+w]
	}
	return mask
}

// Weights for the score of what is of the kind that the query names.
const (
	kindWeight      = 1
	kindBegunWeight = 0.9 // of a word that is still being typed
	// kindBonus is added where the query names nothing but a kind, instead of importance: the nearest is meant.
	kindBonus = 0.3
)

// kindFit returns the weight of a token that names the kind of a document.
func (s *scratch) kindFit(t int) float32 {
	if phrase := s.tokens[t].phrase; phrase >= 0 && !s.phrases[phrase].whole {
		return kindBegunWeight
	}
	return kindWeight
}

// scoreOf returns the score of a document without its distance.
func (s *scratch) scoreOf(d *document, m *matched) float32 {
	score := m.text / float32(len(s.tokens))
	begun := slices.ContainsFunc(s.phrases, func(p phraseFit) bool { return !p.whole })
	switch {
	case m.kinds == len(s.tokens) && begun:
		return score
	case m.kinds == len(s.tokens):
		return score + coverageWeight + kindBonus
	}
	score += coverageWeight*min(1, float32(m.own)/float32(max(d.Words, 1))) + importance*float32(d.Importance)/255
	if len(s.phrases) > 0 && len(s.tokens) > 1 && m.exact == len(s.tokens) && m.exact == int(d.Words) {
		score += kindBonus // it is called as the query, all of it
	}
	return score
}
