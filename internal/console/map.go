package console

import (
	"encoding/json"
	"fmt"

	"wayside/internal/console/words"
	"wayside/internal/mapdata"
)

// MapScript draws every element of its page that has data-feed-map (doc.go).
const MapScript = "map.js"

// mapWords is what MapScript says in a language, as JSON.
func mapWords(w *words.Words) (string, error) {
	said := make(map[string]string)
	for _, key := range []string{
		"map.label", "map.empty", "map.missing", "map.failed", "map.first", "map.previous", "map.next", "map.nearer", "map.farther",
		"map.whole", "map.close", "map.nth", "map.id", "map.seen", "map.expires",
	} {
		said[key] = w.Text(key, "{0}", "{1}")
	}
	for _, k := range mapdata.Kinds() {
		said["kind."+k.ID] = w.Text("kind." + k.ID)
	}
	text, err := json.Marshal(said)
	if err != nil {
		return "", fmt.Errorf("encode the words of maps: %w", err)
	}
	return string(text), nil
}
