package bridge

import (
	"wayside/internal/feeds/format/mapping"
	"wayside/internal/ground/mapdata"
)

// CheckMapping lists the mistakes in a mapping of a format; Field is the path within the mapping.
func CheckMapping(format string, text []byte) []mapdata.FieldError {
	f, known := Lookup(format)
	if !known || !f.Mapping {
		return nil
	}
	_, wrong := mapping.Parse(text, f.Accept == CSV)
	return wrong
}
