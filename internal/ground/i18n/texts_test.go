package i18n_test

import (
	"testing"

	"wayside/internal/ground/i18n"
)

func TestRead(t *testing.T) {
	for _, text := range []string{"key", "key =", "key = ", "key=text", "a = b\na = c"} {
		w := map[string]string{}
		if err := i18n.Read(w, text); err == nil {
			t.Errorf("%q is read as %v", text, w)
		}
	}
	w := map[string]string{}
	if err := i18n.Read(w, "# a comment\n\n a.b = c = d \n"); err != nil || w["a.b"] != "c = d" {
		t.Errorf("%v (%v)", w, err)
	}
	if err := i18n.Read(w, "a.b = of another file"); err == nil {
		t.Error("a key of another file is taken twice")
	}
}
