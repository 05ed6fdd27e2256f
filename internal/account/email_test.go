package account

import (
	"regexp"
	"testing"
)

// What passes can stand in a header of a letter, in a log of a mail server and in a list as it is.
func FuzzParseEmail(f *testing.F) {
	f.Add("a@b.example")
	f.Add("\"\"@\r\n")
	f.Add("A <a@b.example>")
	plain := regexp.MustCompile(`^[!#-'*+\-/-9=?^-~]([!#-'*+\-./-9=?^-~]*)@[a-z0-9.-]+$`)
	f.Fuzz(func(t *testing.T, text string) {
		email, err := parseEmail(text)
		if err == nil && !plain.MatchString(email) {
			t.Errorf("%q passed", email)
		}
	})
}
