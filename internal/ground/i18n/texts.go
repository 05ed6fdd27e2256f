package i18n

import (
	"fmt"
	"strings"
)

// Read adds the lines of a file to texts. It fails, naming the line, at one that is malformed, has no text, or repeats
// a key of this file or of texts.
func Read(texts map[string]string, file string) error {
	number := 0
	for line := range strings.Lines(file) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, text, ok := strings.Cut(line, " = ")
		if _, twice := texts[key]; !ok || twice || strings.TrimSpace(text) == "" {
			return fmt.Errorf("line %d is no «key = text», or repeats a key", number)
		}
		texts[key] = text
	}
	return nil
}
