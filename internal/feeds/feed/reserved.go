package feed

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// reservedNames are the names and slugs of built-in sources and layers, as skeletons: no feed or layer may have a name
// that begins like one (D5.8).
var reservedNames = [...]string{skeleton("incidents"), skeleton("drivers"), skeleton("osm-cameras"), skeleton("osm-chargers")}

// reserved reports whether a name could be taken for that of a built-in source or layer.
func reserved(name string) bool {
	s := skeleton(name)
	for _, r := range reservedNames {
		if strings.HasPrefix(s, r) {
			return true
		}
	}
	return false
}

// skeleton returns a canonical form that is equal for names that look alike: lower case, letters and digits only.
// Capital I, small l and 1 are the same, and so are the letters of other scripts that look Latin (after Unicode's
// confusables).
func skeleton(name string) string {
	lookAlikes := strings.NewReplacer(
		"l", "i", "1", "i", "ı", "i", "0", "o", "3", "e", "5", "s", "$", "s", "|", "i", "!", "i", "@", "a",
		"а", "a", "с", "c", "ԁ", "d", "е", "e", "һ", "h", "і", "i", "ӏ", "i", "м", "m", "п", "n", "о", "o", "р", "p", "г", "r", "ѕ", "s", "т", "t", "ѵ", "v", "ո", "n",
		"α", "a", "ϲ", "c", "ε", "e", "ι", "i", "μ", "m", "η", "n", "ν", "v", "ο", "o", "ρ", "p", "σ", "o", "τ", "t",
		"ß", "ss", "æ", "ae", "ø", "o", "đ", "d", "ł", "i",
	)
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, lookAlikes.Replace(strings.ToLower(norm.NFKD.String(name))))
	return strings.ReplaceAll(plain, "rn", "m")
}
