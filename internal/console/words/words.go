package words

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"wayside/internal/i18n"
	"wayside/internal/mapdata"
)

//go:embed en/*.txt de/*.txt fr/*.txt
var files embed.FS

// Name is a language's name for itself.
func Name(l mapdata.Language) string {
	switch l {
	case mapdata.German:
		return "Deutsch"
	case mapdata.French:
		return "Français"
	case mapdata.English:
	}
	return "English"
}

// Catalogue is what all languages say. It never changes once it was read.
type Catalogue struct{ languages map[mapdata.Language]*Words }

// Words is what one language says.
type Words struct {
	Language mapdata.Language
	texts    map[string]string
}

// Load reads the catalogue that is part of the program.
func Load() (*Catalogue, error) {
	c := &Catalogue{languages: make(map[mapdata.Language]*Words)}
	for _, l := range mapdata.Languages() {
		w := &Words{Language: l, texts: make(map[string]string)}
		names, err := fs.Glob(files, string(l)+"/*.txt")
		if err != nil {
			return nil, fmt.Errorf("list words: %w", err)
		}
		for _, name := range names {
			text, err := files.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("read words: %w", err)
			}
			if err := i18n.Read(w.texts, string(text)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		c.languages[l] = w
	}
	return c, nil
}

// In gives the words of a language, or the English ones.
func (c *Catalogue) In(l mapdata.Language) *Words {
	if w, ok := c.languages[l]; ok {
		return w
	}
	return c.languages[mapdata.English]
}

// Has says whether there is such a key.
func (w *Words) Has(key string) bool {
	_, ok := w.texts[key]
	return ok
}

// First is the first of the keys, from the closest to the one that always does, that there is: the last, where there is none.
func (w *Words) First(keys ...string) string {
	at := slices.IndexFunc(keys, w.Has)
	if at < 0 {
		at = len(keys) - 1
	}
	return keys[at]
}
