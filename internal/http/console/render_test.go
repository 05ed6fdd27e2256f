package console

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestPagesParse checks that every page parses in every language, because a service parses a page only when it is first shown.
func TestPagesParse(t *testing.T) {
	c, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, l := range mapdata.Languages() {
		for _, name := range names {
			page, err := c.pages.get(l, strings.TrimSuffix(path.Base(name), ".html"))
			if err != nil {
				t.Fatal(err)
			}
			if page.Lookup("layout") == nil {
				t.Errorf("%s in %s has no layout", name, l)
			}
		}
	}
	if _, err := c.pages.get(mapdata.Languages()[0], "no such page"); err == nil {
		t.Error("a page that is not there was parsed")
	}
}
