package mapdata

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug is the length of a slug in bytes; it leaves room for the ending that the store appends to a slug that is taken.
const maxSlug = 60

// Slug returns a slug for a name: lower case, without diacritics, all other characters replaced by one hyphen; unnamed
// where nothing is left.
func Slug(name, unnamed string) string {
	letters := strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "þ", "th", "ı", "i")
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return ' '
	}, letters.Replace(strings.ToLower(norm.NFKD.String(name))))
	out := strings.Join(strings.Fields(plain), "-")
	out = strings.TrimSuffix(out[:min(len(out), maxSlug)], "-")
	if out == "" {
		return unnamed
	}
	return out
}
