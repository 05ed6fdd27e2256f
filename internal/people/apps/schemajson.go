package apps

import (
	"encoding/json"
	"strconv"

	"wayside/internal/ground/mapdata"
)

// SchemaJSON writes a schema in the form that ParseSchema reads. Members that were not given are left out, except required.
func SchemaJSON(schema mapdata.ConfigSchema) []byte {
	out := []byte{'['}
	for i := range schema {
		f := &schema[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMember(append(out, '{'), "key", f.Key)
		out = appendMember(append(out, ','), "label", f.Label)
		out = appendMember(append(out, ','), "type", string(f.Type))
		out = strconv.AppendBool(append(out, `,"required":`...), f.Required)
		for _, m := range []struct {
			name  string
			value any
			given bool
		}{
			{"default", f.Default, f.Default != nil},
			{"help", f.Help, f.Help != ""},
			{"secret", f.Secret, f.Secret},
			{"options", f.Options, f.Options != nil},
			{"min", f.Min, f.Min != nil},
			{"max", f.Max, f.Max != nil},
			{"step", f.Step, f.Step != nil},
			{"max_length", f.MaxLength, f.MaxLength != nil},
		} {
			if m.given {
				out = appendMember(append(out, ','), m.name, m.value)
			}
		}
		out = append(out, '}')
	}
	return append(out, ']')
}

// appendMember appends a member whose value is a string, a number, a boolean or a list of strings.
func appendMember(out []byte, name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil { // cannot happen for those
		text = []byte("null")
	}
	return append(append(append(append(out, '"'), name...), '"', ':'), text...)
}
