package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/account"
)

const typesPath = "/types"

func (c *Console) typesRoutes() []Route {
	return []Route{{Method: http.MethodGet, Path: typesPath, Who: account.ForGuests, Handle: c.getTypes}}
}

// typesPage describes the types of entities for providers.
type typesPage struct {
	Groups []typeGroup
}

// typeGroup holds the types of one group.
type typeGroup struct {
	Name  string
	Types []typeEntry
}

// typeEntry is one type with an example row.
type typeEntry struct {
	mapdata.KindInfo
	Example    string
	Properties []propertyLine
}

// getTypes answers GET /types.
func (c *Console) getTypes(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	var page typesPage
	for i, k := range mapdata.Kinds() {
		example, err := c.exampleRow(mapdata.Kind(i))
		if err != nil {
			return err
		}
		if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != k.Group {
			page.Groups = append(page.Groups, typeGroup{Name: k.Group})
		}
		last := &page.Groups[len(page.Groups)-1]
		last.Types = append(last.Types, typeEntry{k, example, propertiesOf(v.Words, mapdata.Kind(i))})
	}
	return c.show(w, r, v, &Page{Name: "types", Data: &page, Wide: true, Scripts: []string{PageScript}})
}

// member is one member of an example's properties, in the order in which the example shows it.
type member struct {
	name  string
	value any
}

// exampleProperties returns the properties of a type's example row.
func exampleProperties(k mapdata.Kind, now time.Time) []member {
	const nextWeek = 7 * 24 * time.Hour
	switch {
	case mapdata.CameraKinds().Has(k):
		return []member{{"street", "Station Road"}, {"maxspeed_kmh", 50}, {"bearing", 90}}
	case mapdata.ChargerKinds().Has(k):
		return []member{
			{"name", "Market Square"},
			{"operator", "Example Power"},
			{"network", "example"},
			{"max_kw", 150},
			{"evses", 8},
			{"available", 3},
			{"price", "0.59 €/kWh"},
			{"opening_hours", "24/7"},
		}
	case mapdata.JamKinds().Has(k):
		return []member{{"street", "A12"}, {"level", 3}, {"speed_kmh", 15}, {"delay_seconds", 420}, {"length_metres", 2300}}
	case mapdata.WorksKinds().Has(k):
		return []member{{"street", "A12"}, {"lanes_closed", 1}, {"speed_limit_kmh", 70}, {"ends_at", now.UTC().Truncate(time.Hour).Add(nextWeek)}}
	}
	return []member{{"street", "Station Road"}, {"direction", "northbound"}, {"description", "Right lane, drive slowly"}}
}

// propertyLine is a well-known property of a type, translated.
type propertyLine struct{ Name, Form, Meaning string }

func propertiesOf(w *words.Words, k mapdata.Kind) []propertyLine {
	var all []propertyLine
	for _, p := range mapdata.Properties() {
		if p.Kinds.Has(k) {
			all = append(all, propertyLine{p.Name, formText(w, &p), w.Text("property." + p.Name)})
		}
	}
	return all
}

// formText describes the form of a property's value.
func formText(w *words.Words, p *mapdata.PropertyInfo) string {
	switch p.Type {
	case mapdata.PropertyNumber:
		return strings.TrimSpace(w.Text("value.number", int64(p.Min), int64(p.Max)) + " " + p.Unit)
	case mapdata.PropertyEnum:
		return strings.Join(p.Values, ", ")
	case mapdata.PropertyText, mapdata.PropertyTexts, mapdata.PropertyBool, mapdata.PropertyTime:
	}
	return w.Text("value." + string(p.Type))
}

// exampleRow returns a row of a type, at the middle of this service's map, with the type's own lifetime.
func (c *Console) exampleRow(kind mapdata.Kind) (string, error) {
	k := kind.Info()
	properties := ""
	for i, m := range exampleProperties(kind, c.Now()) {
		value, err := json.Marshal(m.value)
		if err != nil {
			return "", fmt.Errorf("write an example row: %w", err)
		}
		if i > 0 {
			properties += ", "
		}
		properties += `"` + m.name + `": ` + string(value)
	}
	ttl := ""
	if k.Default > 0 {
		ttl = fmt.Sprintf("\n  \"ttl_seconds\": %d,", int(k.Default.Seconds()))
	}
	at := c.home()
	return fmt.Sprintf("[{\n  \"external_id\": \"example-1\",\n  \"kind\": \"%s\",\n  \"lat\": %.4f, \"lng\": %.4f,%s\n  \"properties\": {%s}\n}]",
		k.ID, at.Lat, at.Lng, ttl, properties), nil
}
