package mapdata

import (
	"strconv"
	"strings"
)

// Language is a language of pages and e-mails, as a tag of RFC 5646. Empty: unknown; English is used then.
type Language string

// The languages of the service.
const (
	English Language = "en"
	German  Language = "de"
	French  Language = "fr"
)

// Languages lists all of them, the default first.
func Languages() []Language { return []Language{English, German, French} }

// ParseLanguage finds a language by its tag, independent of case; a regional tag such as "de-AT" counts as its
// language.
func ParseLanguage(tag string) (Language, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
	for _, known := range Languages() {
		if strings.EqualFold(first, string(known)) {
			return known, true
		}
	}
	return "", false
}

// maxAcceptLanguageBytes bounds the part of an Accept-Language header that is parsed; browsers send less than a hundred
// bytes.
const maxAcceptLanguageBytes = 1000

// AcceptedLanguage returns the supported language with the highest weight in an Accept-Language header (RFC 9110,
// 12.5.4), the first one if several have it, or an empty value for none.
func AcceptedLanguage(header string) Language {
	var best Language
	bestWeight := 0.0
	for item := range strings.SplitSeq(header[:min(len(header), maxAcceptLanguageBytes)], ",") {
		tag, parameter, _ := strings.Cut(item, ";")
		language, known := ParseLanguage(tag)
		if weight := quality(parameter); known && weight > bestWeight {
			best, bestWeight = language, weight
		}
	}
	return best
}

// quality parses "q=0.8". It returns 1 if the weight is absent, 0 (not accepted) if it is malformed.
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
