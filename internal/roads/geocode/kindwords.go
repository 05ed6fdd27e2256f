package geocode

import (
	"bytes"
	"cmp"
	_ "embed" // for go:embed
	"slices"
	"strings"
)

//go:embed kindwords.txt
var kindWords string

// namedKind is a kind of places that drivers look for, such as petrol stations.
type namedKind struct {
	name    string // "fuel"
	tags    []indexKind
	unnamed bool     // things without a name are found, too
	labels  []string // in each of Languages
}

// kindPhrase is a word, or a few, for a kind, in the form in which words are compared.
type kindPhrase struct {
	text  string
	words int
	kind  uint8 // index in the vocabulary's kinds
}

// vocabulary is the words for kinds of places, in all languages together: a driver may use another one than the page.
type vocabulary struct {
	kinds   []namedKind
	phrases []kindPhrase // sorted by text, then kind
	longest int          // words of the longest phrase
}

// newVocabulary parses kindwords.txt.
func newVocabulary() *vocabulary {
	v := new(vocabulary)
	var fold folder
	for line := range strings.Lines(kindWords) {
		line = strings.TrimRight(line, "\n")
		words, isWords := strings.CutPrefix(line, " ")
		switch {
		case line == "" || line[0] == '#':
		case isWords:
			language, list, _ := strings.Cut(words, " ")
			v.addWords(&fold, slices.Index(Languages(), language), list)
		default:
			fields := strings.Fields(line)
			k := namedKind{name: fields[0], labels: make([]string, len(Languages()))}
			for _, field := range fields[1:] {
				if key, value, ok := strings.Cut(field, "="); ok {
					k.tags = append(k.tags, indexKind{key, value})
				} else {
					k.unnamed = field == "unnamed"
				}
			}
			v.kinds = append(v.kinds, k)
		}
	}
	slices.SortFunc(v.phrases, func(a, b kindPhrase) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.kind, b.kind)) })
	v.phrases = slices.Compact(v.phrases)
	return v
}

// addWords adds the words of a language for the last kind.
func (v *vocabulary) addWords(fold *folder, language int, list string) {
	kind := len(v.kinds) - 1
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		if v.kinds[kind].labels[language] == "" {
			v.kinds[kind].labels[language] = one
		}
		fold.fold(one, maxQueryWords)
		p := kindPhrase{text: joinFolded(fold, 0, len(fold.words)), words: len(fold.words), kind: uint8(kind)} //nolint:gosec // a test counts them
		v.longest = max(v.longest, p.words)
		v.phrases = append(v.phrases, p)
	}
}

// joinFolded returns words of a text, with a space between them.
func joinFolded(f *folder, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(' ')
		}
		b.Write(f.word(i))
	}
	return b.String()
}

// kindOf returns the index of the kind that has a tag, or -1.
func (v *vocabulary) kindOf(key, value string) int {
	return slices.IndexFunc(v.kinds, func(k namedKind) bool { return slices.Contains(k.tags, indexKind{key, value}) })
}

// minKindPrefix is the minimum length in bytes of the beginning of a word for a kind that is still being typed. Shorter
// ones begin too many names.
const minKindPrefix = 4

// arabicArticle is the article that Arabic writes as a part of the word.
const arabicArticle = "ال"

// find returns the phrases that equal a text or, if there is none and the text may go on, those that begin with it. more
// reports whether longer phrases begin with the text.
func (v *vocabulary) find(text []byte, open bool) (found []kindPhrase, whole, more bool) {
	text = bytes.TrimPrefix(text, []byte(arabicArticle))
	first, _ := slices.BinarySearchFunc(v.phrases, text, func(p kindPhrase, text []byte) int {
		switch {
		case p.text < string(text):
			return -1
		case p.text > string(text):
			return 1
		}
		return 0
	})
	equal := first
	for equal < len(v.phrases) && v.phrases[equal].text == string(text) {
		equal++
	}
	after := equal
	for after < len(v.phrases) && strings.HasPrefix(v.phrases[after].text, string(text)) {
		after++
	}
	if equal > first || !open || len(text) < minKindPrefix {
		return v.phrases[first:equal], true, after > equal
	}
	return v.phrases[first:after], false, after > first
}

// isNearWord reports whether a word only says that something near is meant, as in "nearest pharmacy".
func isNearWord(word string) bool {
	switch word {
	case "near", "nearby", "nearest", "closest", "next", "me", "here", "find", "where", "is", "the", "please", "my",
		"nachste", "nachster", "nachstes", "nachsten", "nahe", "nahste", "nahegelegene", "wo", "ist", "die", "der", "das", "hier", "mir", "kann", "ich", "umgebung", "suche", "finde",
		"proche", "plus", "proximite", "pres", "ici", "ou", "trouver", "d", "l", "moi", "le", "les", "un", "une", "cherche",
		"dichtbij", "dichtstbijzijnde", "buurt", "waar", "zoek", "een", "mij", "de", "het",
		"cerca", "cercano", "cercana", "cercanos", "cercanas", "mi", "aqui", "donde", "esta", "hay", "mas", "busco", "el", "los", "las", "una",
		"vicino", "vicina", "vicini", "vicine", "piu", "qui", "dove", "trova", "cerco", "il", "lo", "gli", "e", "uno",
		"قريب", "قريبه", "اقرب", "اين", "القريب", "القريبه", "بالقرب", "مني", "هنا":
		return true
	}
	return isJoiningWord(word)
}

// isJoiningWord reports whether a word only joins a kind to a place, as in "pharmacies in Sliema".
func isJoiningWord(word string) bool {
	switch word {
	case "in", "at", "around", "by", "close", "to", "of", "a",
		"bei", "im", "am", "zu",
		"au", "aux", "en", "dans", "du", "des", "la",
		"te", "bij", "van",
		"al", "del", "por",
		"di", "da", "nei", "nel", "della", "presso", "ad",
		"في", "من":
		return true
	}
	return false
}
