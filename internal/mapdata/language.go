package mapdata

import (
	"strconv"
	"strings"
)

// Language is one that pages and letters are written in, as a tag of RFC 5646. Empty: not known; English is then used.
type Language string

// The languages that the service writes.
const (
	English Language = "en"
	German  Language = "de"
	French  Language = "fr"
)

// Languages lists all of them, the default first.
func Languages() []Language { return []Language{English, German, French} }

// ParseLanguage finds a language by its tag, whatever the case; of a regional one, such as "de-AT", the language.
func ParseLanguage(tag string) (Language, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
	for _, known := range Languages() {
		if strings.EqualFold(first, string(known)) {
			return known, true
		}
	}
	return "", false
}

// maxAccepted bounds how much of an Accept-Language header is read, in bytes: browsers send less than a hundred.
const maxAccepted = 1000

// AcceptedLanguage picks from an Accept-Language header (RFC 9110, 12.5.4) the language that its sender likes best of
// those that the service writes; of two that are liked the same, the one that comes first. Empty: none of them.
func AcceptedLanguage(header string) Language {
	var best Language
	most := 0.0
	for item := range strings.SplitSeq(header[:min(len(header), maxAccepted)], ",") {
		tag, parameter, _ := strings.Cut(item, ";")
		language, known := ParseLanguage(tag)
		if weight := quality(parameter); known && weight > most {
			best, most = language, weight
		}
	}
	return best
}

// quality reads "q=0.8": 1 where it is not given, 0 (not wanted) where it cannot be read.
func quality(parameter string) float64 {
	name, value, given := strings.Cut(strings.TrimSpace(parameter), "=")
	if name == "" && !given {
		return 1
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
