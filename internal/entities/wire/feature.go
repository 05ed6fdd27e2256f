package wire

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// Terms are the terms under which a source's data may be shown.
type Terms struct{ Attribution, Licence string }

// propertiesName ends what appendConsensus appends.
const propertiesName = `,"properties":`

// featureNames are the properties of a feature that are the service's own. A provider's under these names are left out.
var featureNames = []string{
	"id", "layer_slug", "kind_id", "external_id", "first_seen_at", "last_seen_at", "expires_at", "status", "confidence",
	"confirm_count", "dispute_count", "title", "attribution", "licence",
}

// AppendFeature appends an entity as a GeoJSON Feature (D17.39). Its geometry is the entity's line, if asLine is set and there is
// one, or its point.
func (e *Encoder) AppendFeature(dst []byte, h *mapdata.Hit, terms Terms, asLine bool) []byte {
	position, line, rest := split(h.Prepared)
	id := idLength(h)
	dst = append(appendIDPrefix(append(dst, `{"type":"Feature","id":"`...), h.Source), rest[:id]...)
	dst = append(dst, `","geometry":`...)
	if asLine && line != nil {
		dst = append(dst, line...)
	} else {
		dst = append(append(dst, `{"type":"Point","coordinates":[`...), position...)
		dst = append(dst, `]}`...)
	}
	dst = append(dst, `,"properties":{"id":"`...)
	dst = append(appendIDPrefix(dst, h.Source), rest[:id]...)
	dst = appendNames(dst, h)
	dst = e.appendTimes(dst, h)
	dst = bytes.TrimSuffix(appendConsensus(dst, h), []byte(propertiesName))
	own := rest[id:]
	if hasOwnProperties(h) {
		e.properties = AppendProperties(e.properties[:0], h, own)
		own = e.properties
	}
	title := h.Kind.Info().Label
	e.members = e.members[:0]
	e.eachMember(own, func(quoted, name []byte, value jsontext.Value) {
		if string(name) == "street" && value.Kind() == '"' {
			if street, err := jsontext.AppendUnquote(nil, value); err == nil && strings.TrimSpace(string(street)) != "" {
				title += ", " + string(street)
			}
		}
		if !slices.Contains(featureNames, string(name)) {
			e.members = append(append(append(e.members, ','), quoted...), ':')
			e.members = append(e.members, value...)
		}
	})
	dst = AppendString(append(dst, `,"title":`...), title)
	dst = AppendString(append(dst, `,"attribution":`...), terms.Attribution)
	dst = AppendString(append(dst, `,"licence":`...), terms.Licence)
	return append(append(dst, e.members...), `}}`...)
}

// eachMember calls yield with each member of a JSON object in its order: its name as the object has it and unquoted, and its value. They
// are valid until yield returns.
func (e *Encoder) eachMember(object []byte, yield func(quoted, name []byte, value jsontext.Value)) {
	d := &e.decoder
	d.Reset(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true)) // a buffer is read in place
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		text, err := d.ReadValue()
		if err != nil {
			return
		}
		e.quoted = append(e.quoted[:0], text...) // the decoder's text is valid until it reads the value
		if e.name, err = jsontext.AppendUnquote(e.name[:0], e.quoted); err != nil {
			return
		}
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		yield(e.quoted, e.name, value)
	}
}
