package geocode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordBytes is how many bytes of a word count.
const maxWordBytes = 40

// folder splits texts into words in the form in which they are compared: without case, accents and punctuation. It
// reuses its memory.
type folder struct {
	decomposed []byte
	text       []byte // of all words
	words      []span // in text
	joined     []span // words split by an apostrophe, as one: "julians" of "Julian's"
	dotted     uint64 // bits of the words that are followed by a dot, as abbreviations are
}

// span is a part of a text.
type span struct{ start, end int }

func (f *folder) word(i int) []byte { return f.text[f.words[i].start:f.words[i].end] }

// fold splits a text into at most limit words. It reports whether the text goes on after the last word, even with only a
// space.
func (f *folder) fold(text string, limit int) (closed bool) {
	f.text, f.words, f.joined, f.dotted = f.text[:0], f.words[:0], f.joined[:0], 0
	f.decomposed = norm.NFKD.AppendString(f.decomposed[:0], text)
	start, apostrophe := 0, -1
	end := func() {
		if len(f.text) == start {
			return
		}
		f.words = append(f.words, span{start, len(f.text)})
		start = len(f.text)
	}
	for rest := f.decomposed; len(rest) > 0 && len(f.words) < limit; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			f.letter(start, r)
			closed = false
		case r < utf8.RuneSelf && r >= 'A' && r <= 'Z':
			f.letter(start, r+'a'-'A')
			closed = false
		case isApostrophe(r):
			end()
			if apostrophe >= 0 && apostrophe == len(f.words)-2 {
				f.join()
			}
			apostrophe = len(f.words) - 1
			continue
		case unicode.Is(unicode.Mn, r) || r == '\u0640' || r == '\u00ad' || unicode.Is(unicode.Cf, r): // accents, vowel points, kashida, soft hyphens
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) // scripts without spaces
			if alone {
				end()
			}
			closed = false
			f.foldRune(start, r)
			if alone {
				end()
			}
		default:
			end()
			if apostrophe >= 0 && apostrophe == len(f.words)-2 {
				f.join()
			}
			apostrophe = -1
			if r == '.' && len(f.words) > 0 && len(f.words) <= 64 {
				f.dotted |= 1 << (len(f.words) - 1)
			}
			closed = closed || unicode.IsSpace(r) || r == ','
			continue
		}
	}
	end()
	if apostrophe >= 0 && apostrophe == len(f.words)-2 {
		f.join()
	}
	f.words = f.words[:min(len(f.words), limit)] // the loop may exceed the limit by one, because one letter can end a word and be a word itself
	return closed
}

// join adds the last two words as one, if they are adjacent in the text.
func (f *folder) join() {
	a, b := f.words[len(f.words)-2], f.words[len(f.words)-1]
	if a.end == b.start && b.end-a.start <= maxWordBytes {
		f.joined = append(f.joined, span{a.start, b.end})
	}
}

func isApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', 'ʼ', 'ʻ', '`', '´', 'ʹ':
		return true
	}
	return false
}

// letter appends a letter to the word that begins at start.
func (f *folder) letter(start int, r rune) {
	if len(f.text)-start+utf8.RuneLen(r) <= maxWordBytes {
		f.text = utf8.AppendRune(f.text, r)
	}
}

// foldRune appends a letter or digit that is not ASCII: in lower case, and for Latin letters that Unicode does not
// decompose, in the form that people type.
func (f *folder) foldRune(start int, r rune) {
	if unicode.IsDigit(r) {
		f.letter(start, '0'+digitValue(r))
		return
	}
	r = unicode.ToLower(r)
	if plain := plainLatin(r); plain != "" {
		for _, letter := range plain {
			f.letter(start, letter)
		}
		return
	}
	f.letter(start, r)
}

// digitValue returns the value of a decimal digit of any script. In each script, the digits follow the zero in order.
func digitValue(r rune) rune {
	zero := r
	for zero > 0 && r-zero < 9 && unicode.IsDigit(zero-1) {
		zero--
	}
	return r - zero
}

// plainLatin returns the usual replacement of a letter on keyboards without it, or "" if there is none.
func plainLatin(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ł':
		return "l"
	case 'ŧ':
		return "t"
	case 'ς': // the form within a word
		return "σ"
	case 'ة':
		return "ه"
	case 'ى', 'ی':
		return "ي"
	case 'ک':
		return "ك"
	}
	return ""
}

// maxName is the maximum length of a name in bytes. OpenStreetMap allows 255 characters.
const maxName = 4 * 255

// cleanName removes what cannot be shown from a name: control characters, and characters that change the direction of
// the surrounding text. It returns "" if the text is not a name.
func cleanName(text string) string {
	if len(text) > maxName || !utf8.ValidString(text) {
		return ""
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r == '\ufeff', r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
