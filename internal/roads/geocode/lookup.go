package geocode

import "unicode/utf8"

// fit is the way in which a word of a name matches one of the query, the best first.
type fit uint8

const (
	exact      fit = iota
	prefix         // the name's word goes on
	typo           // one letter is missing, extra or different, or two are swapped
	typoPrefix     // a typo, and the name's word goes on
	fits
)

// minTypoRunes is the minimum length of a word in which typos are accepted.
const minTypoRunes = 4

// matcher finds the words that match one of a query.
type matcher struct {
	list  wordList
	query []byte
	open  bool // words may go on
	use   func(from, to int, f fit)
}

// find calls use with ranges of matching words. A word can be in several ranges.
func (m *matcher) find() {
	first, after := m.narrow(0, m.list.count(), 0, m.query)
	if first < after {
		own := first
		if len(m.list.word(first)) == len(m.query) {
			m.use(first, first+1, exact)
			own++
		}
		if m.open && own < after {
			m.use(own, after, prefix)
		}
	}
	if utf8.RuneCount(m.query) < minTypoRunes || hasDigit(m.query) {
		return
	}
	m.typos()
}

func hasDigit(word []byte) bool {
	for _, c := range word {
		if c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

// typos finds words with one typo. It follows the query letter by letter through the sorted words, and at each position
// tries the other letters that words have there.
func (m *matcher) typos() {
	first, after, depth := 0, m.list.count(), 0
	for depth <= len(m.query) && first < after {
		rest := m.query[depth:]
		letter, size := utf8.DecodeRune(rest)
		if len(rest) > 0 {
			m.tail(first, after, depth, rest[size:], nil) // an extra letter in the query
			if next, more := utf8.DecodeRune(rest[size:]); more > 0 && next != letter {
				var swapped [2 * utf8.UTFMax]byte
				n := utf8.EncodeRune(swapped[:], next)
				n += utf8.EncodeRune(swapped[n:], letter)
				m.tail(first, after, depth, rest[size+more:], swapped[:n])
			}
		}
		m.others(first, after, depth, rest, letter, size)
		if len(rest) == 0 {
			return
		}
		first, after = m.narrow(first, after, depth, rest[:size])
		depth += size
	}
}

// others tries each letter that words have at a position, as missing from the query or in place of the query's letter.
func (m *matcher) others(first, after, depth int, rest []byte, letter rune, size int) {
	for at := first; at < after; {
		word := m.list.word(at)
		if len(word) <= depth {
			at++
			continue
		}
		other, length := utf8.DecodeRune(word[depth:])
		_, end := m.narrow(at, after, depth, word[depth:depth+length])
		if len(rest) == 0 {
			if !m.open { // a letter more; if words may go on, that is a prefix match
				m.tail(at, end, depth+length, nil, nil)
			}
		} else {
			if other != letter {
				m.tail(at, end, depth+length, rest[size:], nil)
			}
			m.tail(at, end, depth+length, rest, nil)
		}
		at = end
	}
}

// tail finds the words of a range that go on with middle and rest at a depth.
func (m *matcher) tail(first, after, depth int, rest, middle []byte) {
	if len(middle) > 0 {
		first, after = m.narrow(first, after, depth, middle)
		depth += len(middle)
	}
	if first, after = m.narrow(first, after, depth, rest); first >= after {
		return
	}
	if len(m.list.word(first)) == depth+len(rest) {
		m.use(first, first+1, typo)
		first++
	}
	if m.open && first < after {
		m.use(first, after, typoPrefix)
	}
}

// narrow returns the part of a range of words, equal up to a depth, that goes on with the given letters.
func (m *matcher) narrow(first, after, depth int, letters []byte) (int, int) {
	if len(letters) == 0 || first >= after {
		return first, after
	}
	low, high := first, after
	for low < high { // find the first word that is not less
		middle := int(uint(low+high) / 2)
		if compareAt(m.list.word(middle), depth, letters) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	begin := low
	// Most ranges are short, so try a few words ahead before halving the rest.
	for step := 1; ; step *= 2 {
		if low+step >= after || compareAt(m.list.word(low+step), depth, letters) > 0 {
			high = min(low+step, after)
			break
		}
		low += step
	}
	for low < high {
		middle := int(uint(low+high) / 2)
		if compareAt(m.list.word(middle), depth, letters) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return begin, low
}

// compareAt compares a word from a depth on with letters. It returns 0 if the word goes on with them.
func compareAt(word []byte, depth int, letters []byte) int {
	for i, letter := range letters {
		switch {
		case depth+i >= len(word) || word[depth+i] < letter:
			return -1
		case word[depth+i] > letter:
			return 1
		}
	}
	return 0
}
