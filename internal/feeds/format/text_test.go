package format_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"wayside/internal/feeds/format"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", " a  b\t\n c ": "a b c", "<b>bold</b> text": "bold text", "<p>one</p><p>two</p>": "one two",
		"a < b and b > c": "a < b and b > c", "a <b": "a <b", "<script>alert(1)</script>": "alert(1)", "x\x00y\x1bz": "xyz", "a\u202Eb": "ab",
		"Straße & <br/>Weg": "Straße & Weg", "\xff\xfe": "", "<!-- c -->d": "d", "<<b>>": "< >", "  \t ": "", "a\u00a0\u2003b": "a b", "\uFEFFa": "a",
		"<\x00b>a</\u202Eb>": "a", strings.Repeat("<a", 1<<20): strings.Repeat("<a", 100),
	} {
		if got := format.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for length, cut := range map[int]func(string) string{200: format.Text, 1000: format.Description} {
		if got := cut(strings.Repeat("é", length+1)); utf8.RuneCountInString(got) != length {
			t.Errorf("%d of %d characters", utf8.RuneCountInString(got), length)
		}
		if got := cut(strings.Repeat("a b ", length)); utf8.RuneCountInString(got) > length || strings.HasSuffix(got, " ") {
			t.Errorf("%q has %d characters", got, len(got))
		}
	}
}

// TestPlainTexts checks that texts which isPlain accepts are also unchanged by the character-by-character path, as
// behind a tag.
func TestPlainTexts(t *testing.T) {
	for r := range rune(0x2100) {
		text := "a" + string(r) + "b"
		if got, want := format.Text(text), format.Text("<i>"+text); got != want {
			t.Errorf("%q: %q alone, %q behind a tag", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("<b>a</b>\n\tc < d")
	f.Fuzz(func(t *testing.T, text string) {
		got := format.Text(text)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 200 || strings.TrimSpace(got) != got || strings.Contains(got, "  ") {
			t.Errorf("%q: %q", text, got)
		}
		if again := format.Text(got); len(again) > len(got) {
			t.Errorf("%q: %q, then %q", text, got, again)
		}
	})
}
