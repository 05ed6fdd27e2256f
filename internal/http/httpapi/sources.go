package httpapi

import (
	"net/http"
	"time"

	"wayside/internal/ground/mapdata"
)

// sourceItem is one source of the list.
type sourceItem struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Attribution string   `json:"attribution"`
	Licence     string   `json:"licence"`
	LayerSlugs  []string `json:"layer_slugs"`
	KindIDs     []string `json:"kind_ids"` // null: every kind on those layers
	DefaultOn   bool     `json:"default_on"`
	SourceType  string   `json:"source_type"`
}

// getSources answers GET /v2/sources with the sources that are public, approved and active.
func (a *API) getSources(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	items := []sourceItem{}
	if a.Incidents != nil {
		items = append(items, a.incidentsItem())
	}
	for _, f := range a.Sources.Listed() {
		items = append(items, sourceItem{
			ID:          string(f.ID.SourceID()),
			Label:       f.Name,
			Attribution: f.Attribution,
			Licence:     f.Licence,
			LayerSlugs:  []string{f.Layer.Slug},
			DefaultOn:   true,
			SourceType:  sourceType(f),
			KindIDs:     kindIDs(f.BuiltinKinds()),
		})
	}
	w.Header().Set("Cache-Control", CacheListing)
	return WriteJSON(w, r, http.StatusOK, map[string]any{"sources": items})
}

const incidentsLabel = "Live incidents"

// incidentsItem returns the built-in source of live incidents.
func (a *API) incidentsItem() sourceItem {
	item := sourceItem{
		ID: string(mapdata.Incidents), Label: incidentsLabel, Attribution: a.Incidents.Attribution,
		LayerSlugs: []string{string(mapdata.Incidents)}, DefaultOn: true, SourceType: "builtin",
	}
	item.KindIDs = kindIDs(mapdata.IncidentKinds())
	return item
}

func sourceType(f *mapdata.Feed) string {
	if f.Builtin() {
		return string(f.Direction)
	}
	return "feed-" + string(f.Direction)
}

// kindIDs returns the ids of kinds; nil for none.
func kindIDs(set mapdata.KindSet) (ids []string) {
	for k, info := range mapdata.Kinds() {
		if set.Has(mapdata.Kind(k)) {
			ids = append(ids, info.ID)
		}
	}
	return ids
}

// kindItem is one kind of the list (D2.5).
type kindItem struct {
	ID             string `json:"id"`
	Group          string `json:"group"`
	Label          string `json:"label"`
	IconURL        string `json:"icon_url"`
	DefaultSeconds *int64 `json:"default_ttl_seconds"` // null: persistent
	LongestSeconds *int64 `json:"longest_ttl_seconds"` // null: no maximum

	Gravity    int      `json:"gravity"`
	Colour     string   `json:"colour"`
	Properties []string `json:"properties"` // names of the well-known ones
}

// propertyItem is one well-known property.
type propertyItem struct {
	Name    string               `json:"name"`
	Type    mapdata.PropertyType `json:"type"`
	Min     *float64             `json:"minimum,omitempty"`
	Max     *float64             `json:"maximum,omitempty"`
	Unit    string               `json:"unit,omitempty"`
	Values  []string             `json:"values,omitempty"`
	Meaning string               `json:"meaning"`
}

// propertyItems returns the well-known properties, and their names by kind.
func propertyItems() (items []propertyItem, names [mapdata.KindCount][]string) {
	for _, p := range mapdata.Properties() {
		item := propertyItem{Name: p.Name, Type: p.Type, Unit: p.Unit, Values: p.Values, Meaning: p.Meaning}
		if p.Type == mapdata.PropertyNumber {
			item.Min, item.Max = &p.Min, &p.Max
		}
		items = append(items, item)
		for k := range names {
			if p.Kinds.Has(mapdata.Kind(k)) {
				names[k] = append(names[k], p.Name)
			}
		}
	}
	return items, names
}

// getKinds answers GET /v2/kinds.
func (a *API) getKinds(w http.ResponseWriter, r *http.Request, _ *Caller) error {
	items := make([]kindItem, 0, mapdata.KindCount)
	properties, names := propertyItems()
	for i, k := range mapdata.Kinds() {
		items = append(items, kindItem{
			ID: k.ID, Group: k.Group, Label: k.Label,
			IconURL:        a.BaseURL + "/v2/icons/" + k.ID + ".svg",
			DefaultSeconds: secondsOrNull(k.Default),
			LongestSeconds: secondsOrNull(k.Longest),
			Gravity:        k.Gravity, Colour: k.Colour, Properties: names[i],
		})
	}
	w.Header().Set("Cache-Control", CacheListing)
	return WriteJSON(w, r, http.StatusOK, map[string]any{"kinds": items, "properties": properties})
}

func secondsOrNull(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	s := int64(d / time.Second)
	return &s
}
