package apps

import "wayside/internal/ground/mapdata"

// CheckPageURL checks the address of an app's page as a submission's widget_url (D16.2) without fetching it, and returns it
// normalized.
func (r *Rules) CheckPageURL(text string) (string, mapdata.FieldErrors) {
	var errors mapdata.FieldErrors
	return r.checkWidgetURL(text, &errors), errors
}

// Sample returns a config that a driver may have: the defaults, and samples for fields that must be set. Curators look at an app
// with it.
func Sample(schema mapdata.ConfigSchema) mapdata.AppConfig {
	config := Delivered(schema, nil)
	for i := range schema {
		f := &schema[i]
		if _, set := config[f.Key]; !set && f.Required {
			config[f.Key] = sampleOf(f)
		}
	}
	return config
}

// sampleOf returns a value that a field accepts. For a field of addresses with a very small max_length there is none, and no driver
// can fill it in either.
func sampleOf(f *mapdata.ConfigField) any {
	switch f.Type {
	case mapdata.ConfigBoolean:
		return false
	case mapdata.ConfigSelect:
		return f.Options[0]
	case mapdata.ConfigURL:
		return "https://example.org/"
	case mapdata.ConfigNumber:
		var n float64
		if f.Min != nil {
			n = max(n, *f.Min)
		}
		if f.Max != nil {
			n = min(n, *f.Max)
		}
		return n
	case mapdata.ConfigText:
	}
	const text = "Sample"
	return text[:min(len(text), LengthOf(f))]
}
