package bridge

import (
	"wayside/internal/format/mapping"
	"wayside/internal/mapdata"
)

// CheckMapping lists what is wrong with a mapping of a format; fields are paths within it.
func CheckMapping(format string, text []byte) []mapdata.FieldError {
	f, known := Lookup(format)
	if !known || !f.Mapping {
		return nil
	}
	_, wrong := mapping.Parse(text, f.Accept == CSV)
	return wrong
}
