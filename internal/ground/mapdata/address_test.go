package mapdata

import (
	"regexp"
	"testing"
)

// FuzzParseEmail checks that an accepted address needs no escaping in mail headers, logs and lists.
func FuzzParseEmail(f *testing.F) {
	f.Add("a@b.example")
	f.Add("\"\"@\r\n")
	f.Add("A <a@b.example>")
	plain := regexp.MustCompile(`^[!#-'*+\-/-9=?^-~]([!#-'*+\-./-9=?^-~]*)@[a-z0-9.-]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		email, err := ParseEmail(text)
		if err == nil && !plain.MatchString(email) {
			t.Errorf("%q passed", email)
		}
	})
}
