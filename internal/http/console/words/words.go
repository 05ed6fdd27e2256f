package words

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"wayside/internal/ground/i18n"
	"wayside/internal/ground/mapdata"
)

//go:embed en/*.txt de/*.txt fr/*.txt
var files embed.FS

// Name returns a language's name for itself.
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

// Catalogue is the messages in all languages. It is immutable.
type Catalogue struct{ languages map[mapdata.Language]*Words }

// Words is the messages in one language.
type Words struct {
	Language mapdata.Language
	texts    map[string]string
}

// Load parses the embedded messages.
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

// In returns the messages of a language, or the English ones.
func (c *Catalogue) In(l mapdata.Language) *Words {
	if w, ok := c.languages[l]; ok {
		return w
	}
	return c.languages[mapdata.English]
}

// Has reports whether there is a message for a key.
func (w *Words) Has(key string) bool {
	_, ok := w.texts[key]
	return ok
}

// First returns the first of the keys for which there is a message; the last key if there is none.
func (w *Words) First(keys ...string) string {
	at := slices.IndexFunc(keys, w.Has)
	if at < 0 {
		at = len(keys) - 1
	}
	return keys[at]
}
