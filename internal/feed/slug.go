package feed

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug leaves room for the number that the store puts behind a slug that is taken.
const maxSlug = 60

// unnamed is the slug of a layer whose name holds nothing that a slug can.
const unnamed = "layer"

// slug makes a layer's slug from its name (D5.8): lower case, without marks above and below, everything else one hyphen.
func slug(name string) string {
	letters := strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "þ", "th", "ı", "i")
	var out strings.Builder
	gap := false
	for _, r := range letters.Replace(strings.ToLower(norm.NFKD.String(name))) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if gap && out.Len() > 0 {
				out.WriteByte('-')
			}
			gap = false
			out.WriteRune(r)
		case !unicode.Is(unicode.Mn, r):
			gap = true
		}
		if out.Len() >= maxSlug {
			break
		}
	}
	if out.Len() == 0 {
		return unnamed
	}
	return out.String()
}
