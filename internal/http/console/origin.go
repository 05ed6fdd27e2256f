package console

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"wayside/internal/feeds/feed"
)

// origin is where a URL leads, shown to people so that they can decide whether they trust it.
type origin struct {
	Text    string // scheme, host and port as stored: A-labels
	Unicode string // the host in Unicode; empty: it is the same
	Mixed   bool   // one label mixes scripts, so that it may look like another name
	Rest    string // path and query
}

// originOf parses a pull URL; nil: there is none.
func originOf(address string) *origin {
	text := feed.Origin(address)
	u, err := url.Parse(address)
	if text == "" || err != nil {
		return nil
	}
	o := &origin{Text: text, Rest: strings.TrimPrefix(address, u.Scheme+"://"+u.Host)}
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		return o
	}
	if written, err := idna.ToUnicode(host); err == nil && written != host {
		o.Unicode = written
		for label := range strings.SplitSeq(written, ".") {
			o.Mixed = o.Mixed || mixesScripts(label)
		}
	}
	return o
}

// mixesScripts reports whether a text mixes scripts that no language writes together. Japanese and Korean write several.
func mixesScripts(text string) bool {
	found := make(map[string]bool)
	for _, r := range text {
		if name := scriptOf(r); name != "" {
			found[name] = true
		}
	}
	return len(found) > 1
}

// mixesScriptsInAWord reports whether a word of a text mixes scripts with similar letters. Words in different scripts next
// to each other are normal in a name.
func mixesScriptsInAWord(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		alike := strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
				return r
			}
			return -1
		}, word)
		if mixesScripts(alike) {
			return true
		}
	}
	return false
}

// scriptOf returns the name of a character's script; empty: the character belongs to several scripts, or to none.
func scriptOf(r rune) string {
	switch {
	case unicode.In(r, unicode.Common, unicode.Inherited):
		return ""
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return "East Asian"
	}
	for _, s := range []struct {
		name  string
		table *unicode.RangeTable
	}{{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}} {
		if unicode.Is(s.table, r) {
			return s.name
		}
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
