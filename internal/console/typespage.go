package console

import (
	"encoding/json"
	"fmt"
	"net/http"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

const typesPath = "/types"

func (c *Console) typesRoutes() []Route {
	return []Route{{Method: http.MethodGet, Path: typesPath, Who: account.ForGuests, Handle: c.getTypes}}
}

// typesPage describes the types of entities for providers.
type typesPage struct {
	Groups []typeGroup
}

// typeGroup is the types of one group.
type typeGroup struct {
	Name  string
	Types []typeEntry
}

// typeEntry is one type with an example row.
type typeEntry struct {
	mapdata.KindInfo
	Example string
}

// getTypes answers GET /types.
func (c *Console) getTypes(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	var page typesPage
	for _, k := range mapdata.Kinds() {
		example, err := c.exampleRow(&k)
		if err != nil {
			return err
		}
		if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != k.Group {
			page.Groups = append(page.Groups, typeGroup{Name: k.Group})
		}
		last := &page.Groups[len(page.Groups)-1]
		last.Types = append(last.Types, typeEntry{k, example})
	}
	return c.show(w, r, v, &Page{Name: "types", Data: &page, Wide: true, Scripts: []string{PageScript}})
}

// member is one member of an example's properties, in the order in which the example shows it.
type member struct {
	name  string
	value any
}

// exampleProperties are the properties of example rows: those of its type's group.
func exampleProperties(k *mapdata.KindInfo) []member {
	switch k.Group {
	case "cameras":
		return []member{{"street", "Station Road"}, {"maxspeed_kmh", 50}, {"bearing", 90}}
	case "chargers":
		return []member{
			{"name", "Market Square"}, {"operator", "Example Power"}, {"network", "example"}, {"max_kw", 150}, {"evses", 8},
			{"available", 3}, {"price", "0.59 €/kWh"}, {"opening_hours", "24/7"},
		}
	case "traffic":
		return []member{{"street", "A12"}, {"level", 3}, {"speed_kmh", 15}, {"delay_seconds", 420}, {"length_metres", 2300}}
	}
	return []member{{"street", "Station Road"}, {"direction", "northbound"}, {"description", "Right lane, drive slowly"}}
}

// exampleRow is a row of a type, at the middle of this service's map, with the type's own lifetime.
func (c *Console) exampleRow(k *mapdata.KindInfo) (string, error) {
	properties := ""
	for i, m := range exampleProperties(k) {
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
