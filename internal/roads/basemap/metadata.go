package basemap

import (
	"encoding/json"
	"html"
	"strings"
	"unicode"
)

// Limits of an archive's metadata.
const (
	maxAttribution = 500 // characters
	maxLayers      = 100
	maxFields      = 200
	maxName        = 100 // bytes
)

// plainText removes HTML from a JSON string, because markup of a foreign file must not become part of a page. It returns
// "" for other JSON.
func plainText(raw json.RawMessage) string {
	var marked string
	if json.Unmarshal(raw, &marked) != nil {
		return ""
	}
	var words strings.Builder
	inside := false
	for _, r := range marked {
		switch {
		case r == '<':
			inside = true
		case r == '>':
			inside = false
		case !inside:
			words.WriteRune(r)
		}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, html.UnescapeString(words.String()))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), maxAttribution)])
}

// vectorLayers parses the layers in the metadata and drops invalid ones.
func vectorLayers(raw json.RawMessage) []VectorLayer {
	var described []struct {
		ID               string
		Fields           map[string]any
		MinZoom, MaxZoom *float64
	}
	if json.Unmarshal(raw, &described) != nil {
		return nil
	}
	var layers []VectorLayer
	for _, d := range described[:min(len(described), maxLayers)] {
		if d.ID == "" || len(d.ID) > maxName {
			continue
		}
		layer := VectorLayer{ID: d.ID, Fields: make(map[string]string), MinZoom: zoomOr(d.MinZoom, 0), MaxZoom: zoomOr(d.MaxZoom, MaxZoom)}
		for name, what := range d.Fields {
			if text, ok := what.(string); ok && len(layer.Fields) < maxFields && len(name) <= maxName && len(text) <= maxName {
				layer.Fields[name] = text
			}
		}
		layers = append(layers, layer)
	}
	return layers
}

func zoomOr(z *float64, otherwise int) int {
	if z == nil || *z < 0 || *z > MaxZoom {
		return otherwise
	}
	return int(*z)
}
