package wire

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/mapdata"
)

// Terms are under what terms a source's data may be shown.
type Terms struct{ Attribution, Licence string }

// propertiesName ends what appendConsensus appends.
const propertiesName = `,"properties":`

// featureNames are the properties of a feature that are the service's own. A provider's under these names are left out.
var featureNames = []string{
	"id", "layer_slug", "kind_id", "external_id", "first_seen_at", "last_seen_at", "expires_at", "status", "confidence",
	"confirm_count", "dispute_count", "title", "attribution", "licence",
}

// AppendFeature appends an entity as a GeoJSON Feature (D17.39). Its geometry is the entity's line, if that is asked for and there is
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
	own := AppendProperties(nil, h, rest[id:])
	dst = AppendString(append(dst, `,"title":`...), titleOf(h.Kind, own))
	dst = AppendString(append(dst, `,"attribution":`...), terms.Attribution)
	dst = AppendString(append(dst, `,"licence":`...), terms.Licence)
	eachMember(own, func(name string, value jsontext.Value) {
		if !slices.Contains(featureNames, name) {
			dst = append(AppendString(append(dst, ','), name), ':')
			dst = append(dst, value...)
		}
	})
	return append(dst, `}}`...)
}

// titleOf names an entity for people: its kind, and the street if the provider names it.
func titleOf(k mapdata.Kind, properties []byte) string {
	title := k.Info().Label
	eachMember(properties, func(name string, value jsontext.Value) {
		if name != "street" || value.Kind() != '"' {
			return
		}
		if street, err := jsontext.AppendUnquote(nil, value); err == nil && strings.TrimSpace(string(street)) != "" {
			title += ", " + string(street)
		}
	})
	return title
}

// eachMember calls yield with each member of an object that is JSON, in its order.
func eachMember(object []byte, yield func(name string, value jsontext.Value)) {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return
		}
		text := name.String() // the token is only valid until the next read
		value, err := d.ReadValue()
		if err != nil {
			return
		}
		yield(text, value)
	}
}
