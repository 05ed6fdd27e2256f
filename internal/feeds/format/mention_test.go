package format_test

import (
	"io"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
)

// TestMentions checks a word at every place around the end of a block, as it is and with a letter as an escape.
func TestMentions(t *testing.T) {
	mentions := func(text string) bool {
		t.Helper()
		open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
		found, err := format.Mentions(format.Document{Open: open}, "Other", "StatusPublication")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for before := range 200 {
		before += 64<<10 - 150
		for text, want := range map[string]bool{"StatusPublication": true, `Statu\u0073Publication`: true, `\u0053`: true, `statusPublication`: false, `\u00dfStatus`: false} {
			if mentions(strings.Repeat("x", before)+text+strings.Repeat(" ", 100)) != want {
				t.Fatalf("%s after %d bytes: not %v", text, before, want)
			}
		}
	}
	if mentions("") || !mentions("S\x00t\x00a\x00t\x00u\x00s\x00P\x00u\x00b\x00l\x00i\x00c\x00a\x00t\x00i\x00o\x00n\x00") {
		t.Error("nothing, or UTF-16")
	}
}
