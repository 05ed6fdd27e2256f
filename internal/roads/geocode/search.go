package geocode

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Bounds of a search.
const (
	MaxLimit      = 50
	maxQueryWords = 12 // further words are ignored
	// maxConsidered is how many documents one pass considers: some 20 ms. Features come first. A country has more
	// documents that begin with some one letter, but not with any three letters.
	maxConsidered = 500_000
)

// Query is a search for a text.
type Query struct {
	Text     string
	Near     geo.Point // if Biased, results near it come first
	Biased   bool
	Limit    int      // at most MaxLimit
	Language int      // index in Languages; -1: the default names
	Within   *geo.Box // nil: everywhere
	Filter   Filter
}

// Result is something that was found. Its texts lie in the index, which must be kept until they are written.
type Result struct {
	OSMType, Key, Value                            string
	OSMID                                          int64
	Layer                                          Layer
	Name, Street, Number, Postcode, City, District []byte
	County, State, Country, Code                   []byte
	Other                                          []byte // the second street of a crossing
	Kind, KindName                                 string // of the vocabulary, and what it is called in the language of the query; may be empty
	Hours                                          []byte // when it is open, as OpenStreetMap writes it; hours.Parse understands it
	At                                             graph.Position
	Extent                                         extent
	HasExtent                                      bool
	Distance                                       float64 // metres from the position of a reverse query
}

// hit is a document that was found, with the house if the query asks for one.
type hit struct {
	score        float32
	id           uint32
	house        uint32 // index in houses, or none
	other        uint32 // the second street of a crossing, or none
	node         osmID  // of the crossing
	at           graph.Position
	interpolated uint32 // number of an interpolated house, or 0
}

// scratch is the reusable memory of one search.
type scratch struct {
	fold    folder
	other   folder // for names of documents
	tokens  []token
	bits    []uint64 // for each token and fit, the documents that have it
	rows    []uint64 // for each token, the places that contain it
	hits    []hit    // a heap, the worst first
	limit   int
	matcher matcher
	kinds   []bool // kinds that may be results
	query   *Query
	frame   frame
	masks   [maxQueryWords][fits + 1]uint64 // of the documents under consideration
	number  []byte

	phrases    []phraseFit
	phraseText []byte
	kindBits   []uint64 // for each phrase, the documents of its kinds

	// For reverse searches.
	near   []found
	points []point
	roads  []match.Place
}

// token is a word of the query.
type token struct {
	span   span
	number uint32 // the number that it begins with, if house is set
	house  bool   // it may be a house number
	suffix bool   // it may follow a house number: the "a" of "12 a"
	phrase int    // index of the phrase for a kind that it belongs to, noPhrase or anyPhrase
	run    int    // index of the first token of a house number and its suffixes
	// elsewhere: the token is in the name of something that others lie in, or may be part of a house number, so that a
	// result need not have it in its own name.
	elsewhere bool
	open      bool // the name's word may go on, because the token is still being typed, or abbreviated
}

// Search appends the best results, the best first. If ctx ends before the search begins, Search returns its cause, so
// that clients that left do not delay waiting ones.
func (x *Index) Search(ctx context.Context, dst []Result, q *Query) ([]Result, error) {
	s, err := x.take(ctx)
	if err != nil {
		return dst, err
	}
	defer func() { x.scratches <- s }()
	return x.search(s, dst, q), nil
}

// take waits for free memory for a search.
func (x *Index) take(ctx context.Context) (*scratch, error) {
	if ctx.Err() != nil { // if both are ready, select chooses at random
		return nil, context.Cause(ctx)
	}
	select {
	case s := <-x.scratches:
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (x *Index) search(s *scratch, dst []Result, q *Query) []Result {
	crossings := x.crossings(s, q)
	s.begin(x, q)
	if len(s.tokens) == 0 {
		return dst
	}
	x.mark(s)
	x.gather(s, 0)
	// "A and B" may be the name of something, which then comes first.
	if len(crossings) > 0 && len(s.hits) > 0 && !strings.ContainsAny(q.Text, dividers) {
		return x.appendCrossings(x.best(dst, s, q), crossings, q)
	}
	if len(crossings) == 0 && len(s.hits) == 0 && len(s.tokens) > 1 {
		x.gather(s, 1)
	}
	dst = x.appendCrossings(dst, crossings, q)
	return x.best(dst, s, q)
}

// appendCrossings appends crossings. If there is not enough room, they replace the last results.
func (x *Index) appendCrossings(dst []Result, crossings []hit, q *Query) []Result {
	dst = dst[:min(len(dst), q.Limit-min(q.Limit, len(crossings)))]
	for i := range crossings {
		dst = append(dst, x.result(&crossings[i], q))
	}
	return dst
}

// begin prepares for a query.
func (s *scratch) begin(x *Index, q *Query) {
	s.query, s.hits, s.tokens = q, s.hits[:0], s.tokens[:0]
	s.limit = 2*q.Limit + 10 // more than the limit, because duplicates are dropped
	s.frame = newFrame(q.Near)
	closed := s.fold.fold(q.Text, maxQueryWords)
	for i, word := range s.fold.words {
		t := token{span: word, open: i == len(s.fold.words)-1 && !closed || s.fold.dotted>>i&1 != 0}
		if text := s.fold.word(i); text[0] >= '0' && text[0] <= '9' {
			t.number, t.house = houseNumber(string(text))
		}
		t.run = i
		if i > 0 && (s.tokens[i-1].house || s.tokens[i-1].suffix) {
			t.suffix = !t.house && isSuffix(s.fold.word(i))
			if t.house || t.suffix {
				t.run = s.tokens[i-1].run
			}
		}
		t.elsewhere = t.house || t.suffix
		s.tokens = append(s.tokens, t)
	}
	s.kinds = q.Filter.kinds(s.kinds[:0], x.kindList)
	s.readPhrases(x, closed)
}

// mark records the documents that have each token.
func (x *Index) mark(s *scratch) {
	words := (len(x.documents) + 63) / 64
	s.bits = slices.Grow(s.bits[:0], len(s.tokens)*int(fits)*words)[:len(s.tokens)*int(fits)*words]
	clear(s.bits)
	for i, t := range s.tokens {
		base := i * int(fits) * words
		s.matcher = matcher{list: x.list, query: s.fold.text[t.span.start:t.span.end], open: t.open}
		s.matcher.use = func(from, to int, f fit) {
			set := s.bits[base+int(f)*words : base+int(f+1)*words]
			for word := from; word < to; word++ {
				x.list.eachDocument(word, func(id uint32) { set[id/64] |= 1 << (id % 64) })
			}
		}
		s.matcher.find()
	}
	s.matcher.use = nil
	x.markPlaces(s, words)
	x.markKinds(s, words)
}

// markPlaces records which places contain each token.
func (x *Index) markPlaces(s *scratch, words int) {
	rows := (len(x.places) + 63) / 64
	s.rows = slices.Grow(s.rows[:0], len(s.tokens)*rows)[:len(s.tokens)*rows]
	clear(s.rows)
	for t := range s.tokens {
		sets := s.bits[t*int(fits)*words : (t+1)*int(fits)*words]
		has := func(id uint32) bool {
			if id == none {
				return false
			}
			at, bit := int(id/64), uint64(1)<<(id%64)
			return (sets[at]|sets[words+at]|sets[2*words+at])&bit != 0
		}
		into := s.rows[t*rows : (t+1)*rows]
		word := s.fold.text[s.tokens[t].span.start:s.tokens[t].span.end]
		for i := range x.places {
			p := &x.places[i]
			if has(p.City) || has(p.District) || has(p.County) || has(p.State) || has(p.Country) ||
				s.tokens[t].house && p.Postcode != 0 && string(x.text(p.Postcode)) == string(word) {
				into[i/64] |= 1 << (i % 64)
				s.tokens[t].elsewhere = true
			}
		}
	}
}

// gather keeps the best documents that have all tokens except the given number.
func (x *Index) gather(s *scratch, missing int) {
	words, considered := (len(x.documents)+63)/64, 0
	for w := range words {
		if considered > maxConsidered {
			return
		}
		var found uint64
		all := ^uint64(0)
		for t := range s.tokens {
			var own uint64
			for f := range fits {
				s.masks[t][f] = s.bits[(t*int(fits)+int(f))*words+w]
				own |= s.masks[t][f]
			}
			s.masks[t][byKind] = s.kindMask(t, w, words)
			own |= s.masks[t][byKind]
			found |= own
			if !s.tokens[t].elsewhere {
				all &= own | x.addressed[w]
			}
		}
		if missing == 0 {
			found &= all
		}
		considered += bits.OnesCount64(found)
		for ; found != 0; found &= found - 1 {
			x.consider(s, uint32(w*64+bits.TrailingZeros64(found)), words, missing)
		}
	}
}

// Weights for the score of a result.
const (
	exactWeight      = 1
	prefixWeight     = 0.9
	typoWeight       = 0.62
	typoPrefixWeight = 0.45

	inPlaceWeight  = 0.75 // of a word in the name of something that the result lies in
	houseWeight    = 1.1  // of an existing house number
	nearHouse      = 0.95 // of an interpolated house number
	noHouseWeight  = 0.3  // of a house number that does not exist
	missingWeight  = -0.4
	coverageWeight = 0.35 // of the share of a name's words that the query contains
	nearWeight     = 0.7
	importance     = 0.5
)

// matched is how a document fits the tokens of a query.
type matched struct {
	text   float32 // how well it fits all of them together
	own    int     // tokens in its own name
	exact  int     // tokens that are words of its own name
	kinds  int     // tokens that name its kind
	number int     // token that may be a house number on it, or -1
}

// consider scores a document that has at least one token in its own name, or is of a kind that one names.
func (x *Index) consider(s *scratch, id uint32, words, missing int) {
	d := &x.documents[id]
	if d.has(hidden) && !x.isStreet(id) || !s.kinds[d.Kind] {
		return
	}
	m, ok := x.fitOf(s, id, d, words, missing)
	if !ok {
		return
	}
	// Candidates that cannot beat the worst kept hit are skipped before their distance is computed.
	number, score := m.number, s.scoreOf(d, &m)
	if number < 0 && len(s.hits) == s.limit && score+nearWeight < s.hits[0].score {
		return
	}
	h := hit{id: id, house: none, other: none, at: d.at(), score: score}
	if number >= 0 {
		h.score += x.findHouse(s, &h, number) / float32(len(s.tokens))
	} else if x.isStreet(id) {
		for t := range s.tokens {
			// The number is a word of another name of the street, such as its road number, but the query contains the
			// default name without it.
			if s.tokens[t].house && s.tokens[t].run == t && x.namedWithout(s, id, t) {
				x.findHouse(s, &h, t)
				break
			}
		}
	}
	isHouse := h.house != none || h.interpolated != 0
	if isHouse && !s.query.Filter.allows(LayerHouse) || !isHouse && (d.has(hidden) || !s.query.Filter.allows(d.layer())) {
		return
	}
	if s.query.Within != nil && !s.query.Within.Contains(h.at.Point()) {
		return
	}
	if s.query.Biased {
		h.score += nearWeight * s.frame.nearness(h.at)
	}
	s.keep(h)
}

// namedWithout reports whether the query contains the name of a document even without the tokens of a house number.
func (x *Index) namedWithout(s *scratch, id uint32, number int) bool {
	s.other.fold(string(x.name(id)), maxWords)
	for i := range s.other.words {
		if !slices.ContainsFunc(s.tokens, func(t token) bool {
			return t.run != number && bytes.Equal(s.other.word(i), s.fold.text[t.span.start:t.span.end])
		}) {
			return false
		}
	}
	return len(s.other.words) > 0
}

// fitOf returns how a document fits all tokens together. It returns false if more tokens than missing do not fit, or none
// is in its own name or names its kind.
func (x *Index) fitOf(s *scratch, id uint32, d *document, words, missing int) (m matched, ok bool) {
	m.number = -1
	rows, shift := (len(x.places)+63)/64, id%64
	for t := range s.tokens {
		masks := &s.masks[t]
		ofKind := masks[byKind]>>shift&1 != 0
		if ofKind {
			m.kinds++
		}
		switch {
		case masks[exact]>>shift&1 != 0:
			m.text += exactWeight
			m.own++
			m.exact++
		case ofKind:
			m.text += s.kindFit(t)
		case s.tokens[t].suffix && x.isStreet(id):
			m.text += inPlaceWeight
		case masks[prefix]>>shift&1 != 0:
			m.text += prefixWeight
			m.own++
		case masks[typo]>>shift&1 != 0:
			m.text += typoWeight
			m.own++
		case masks[typoPrefix]>>shift&1 != 0:
			m.text += typoPrefixWeight
			m.own++
		case s.rows[t*rows+int(d.Place/64)]>>(d.Place%64)&1 != 0:
			m.text += inPlaceWeight
		case s.tokens[t].house && x.isStreet(id):
			if m.number < 0 { // of "12/3" the first counts
				m.number = t
			}
		case d.has(hasAddress) && x.onStreet(s, id, t, words):
			m.text += inPlaceWeight
		case missing > 0:
			missing--
			m.text += missingWeight
		default:
			return m, false
		}
	}
	return m, m.own+m.kinds > 0
}

// onStreet reports whether the feature's address contains the token.
func (x *Index) onStreet(s *scratch, id uint32, t, words int) bool {
	i, ok := slices.BinarySearchFunc(x.addresses, id, func(a address, id uint32) int { return cmp.Compare(a.Document, id) })
	if !ok {
		return false
	}
	a := &x.addresses[i]
	sets, at, bit := s.bits[t*int(fits)*words:], int(a.Street/64), uint64(1)<<(a.Street%64)
	if (sets[at]|sets[words+at]|sets[2*words+at])&bit != 0 {
		return true
	}
	return (s.tokens[t].house || s.tokens[t].suffix) && s.inNumber(x.text(a.Number), t)
}

// keep adds a hit if it is among the best.
func (s *scratch) keep(h hit) {
	if len(s.hits) < s.limit {
		s.hits = append(s.hits, h)
		for i := len(s.hits) - 1; i > 0 && worse(&s.hits[i], &s.hits[(i-1)/2]); i = (i - 1) / 2 {
			s.hits[i], s.hits[(i-1)/2] = s.hits[(i-1)/2], s.hits[i]
		}
		return
	}
	if !worse(&s.hits[0], &h) {
		return
	}
	s.hits[0] = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(s.hits) {
			return
		}
		if child+1 < len(s.hits) && worse(&s.hits[child+1], &s.hits[child]) {
			child++
		}
		if !worse(&s.hits[child], &s.hits[i]) {
			return
		}
		s.hits[i], s.hits[child] = s.hits[child], s.hits[i]
		i = child
	}
}

// sortHits sorts the hits, the best first.
func (s *scratch) sortHits() {
	slices.SortFunc(s.hits, func(a, b hit) int {
		switch {
		case worse(&b, &a):
			return -1
		case worse(&a, &b):
			return 1
		}
		return 0
	})
}

func worse(a, b *hit) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.id > b.id
}

// best appends the best hits, without those that a driver could not distinguish from a better one.
func (x *Index) best(dst []Result, s *scratch, q *Query) []Result {
	s.sortHits()
	x.placesFirst(s)
	shown := s.hits[:0]
	first := len(dst)
	for _, h := range s.hits {
		if i := slices.IndexFunc(shown, func(o hit) bool { return x.same(&o, &h) }); i >= 0 {
			if x.isStreet(h.id) {
				dst[first+i].Extent = dst[first+i].Extent.with(x.boxOf(h.id))
			}
			continue
		}
		if len(dst) < q.Limit {
			shown = append(shown, h)
			dst = append(dst, x.result(&h, q))
		}
	}
	return dst
}

const (
	// sameWithin is the distance in metres within which two features of one name and kind are the same for a driver, such
	// as the two stops of a bus.
	sameWithin = 150
	// partsWithin is the distance in metres within which two streets of one name in one city are parts of one street.
	partsWithin = 2000
)

func (x *Index) same(a, b *hit) bool {
	if x.isStreet(a.id) && x.isStreet(b.id) {
		return a.house == b.house && a.interpolated == b.interpolated && (a.id == b.id || a.house == none && a.interpolated == 0 && x.samePart(a.id, b.id))
	}
	if x.isStreet(a.id) || x.isStreet(b.id) {
		return false
	}
	return x.documents[a.id].Kind == x.documents[b.id].Kind && metres(a.at, b.at) < sameWithin && string(x.name(a.id)) == string(x.name(b.id))
}

// samePart reports whether two streets are parts of one street for a driver: they have one name and one city, and lie
// near each other.
func (x *Index) samePart(a, b uint32) bool {
	if string(x.name(a)) != string(x.name(b)) || x.places[x.documents[a].Place].City != x.places[x.documents[b].Place].City {
		return false
	}
	p, r := x.boxOf(a), x.boxOf(b)
	return p.gap(&r) < partsWithin
}

// frame measures distances from a position quickly.
type frame struct {
	at  graph.Position
	cos float32
}

func newFrame(p geo.Point) frame {
	return frame{positionOf(p), float32(math.Cos(p.Lat * math.Pi / 180))}
}

// Distances in metres at which nearness begins to fall, and at which it reaches 0.
const (
	nearMetres = 150
	farMetres  = 2_000_000
)

// nearness returns 1 at the position, and falls with the logarithm of the distance.
func (f frame) nearness(p graph.Position) float32 {
	x := float32(shorter(int64(p.Lng)-int64(f.at.Lng))) * f.cos
	y := float32(int64(p.Lat) - int64(f.at.Lat))
	away := float32(math.Sqrt(float64(x*x+y*y))) * metresPerUnit
	return max(0, 1-logarithm(1+away/nearMetres)*(1/farLogarithm))
}

// farLogarithm is the logarithm to base 2 of 1 + farMetres/nearMetres.
const farLogarithm = 13.7029

// logarithm returns an approximate logarithm to base 2 of a number of at least 1, with an error of some thousandths. It
// must be fast, because it is computed for every document that has a word.
func logarithm(v float32) float32 {
	word := math.Float32bits(v)
	m := math.Float32frombits(word&0x7fffff|0x3f800000) - 1
	return float32(int(word>>23)-127) + ((0.151703*m-0.571703)*m+1.42)*m
}
