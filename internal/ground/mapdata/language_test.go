package mapdata

import (
	"slices"
	"strings"
	"testing"
)

func TestAcceptedLanguage(t *testing.T) {
	tests := []struct {
		header string
		want   Language
	}{
		{"", ""},
		{"de", German},
		{"DE-at", German},
		{"fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", French},
		{"nl, en;q=0.3, de;q=0.8", German},
		{"de;q=0.5,fr;q=0.5", German},
		{"nl-BE,nl;q=0.9", ""},
		{"*", ""},
		{"de;q=0, fr;q=0.1", French},
		{"de;q=0", ""},
		{"de;q=2, de;q=-1, de;q=NaN, de;q=Inf, de;q=, de;q=x, de;x=1, en;q=0.001", English},
		{"deu, germ, den-DE", ""},
		{" de ; q = 0.7 ", German},
		{";;;,,,=;q=1", ""},
		{strings.Repeat("xx,", 400) + "de", ""},
	}
	for _, tt := range tests {
		if got := AcceptedLanguage(tt.header); got != tt.want {
			t.Errorf("%.40q: %q, want %q", tt.header, got, tt.want)
		}
	}
}

func FuzzAcceptedLanguage(f *testing.F) {
	f.Add("de-DE,de;q=0.9,en;q=0.8")
	f.Fuzz(func(t *testing.T, header string) {
		got := AcceptedLanguage(header)
		if got != "" && !slices.Contains(Languages(), got) {
			t.Errorf("%q", got)
		}
	})
}
