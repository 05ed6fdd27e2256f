package console

import (
	"encoding/json"
	"fmt"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// MapScript draws a map in every element with data-feed-map (doc.go).
const MapScript = "map.js"

// mapMessages returns the messages of MapScript in one language, as JSON.
func mapMessages(w *words.Words) (string, error) {
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
