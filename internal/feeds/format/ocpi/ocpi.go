// Package ocpi reads charging locations of OCPI 2.1.1, 2.2 and 2.2.1 (D17.26).
package ocpi

import (
	"math"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

// Convert reads locations of OCPI; it implements format.Convert. It returns no next page, since its URL is in a header
// of the answer, not in the document.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{o: o, yield: yield, plugs: format.Vocabulary().Plugs.OCPI}
	return format.Summary{}, jsondoc.Read(d, o.Budget, c.document)
}

type converter struct {
	r     *jsondoc.Reader
	o     *format.Options
	yield func(format.Item) error
	plugs map[string]string
	row   []byte
}

// document reads a bare array of locations, or the envelope of an answer.
func (c *converter) document(r *jsondoc.Reader) error {
	c.r = r
	if r.Kind() == '[' {
		return r.Elements(c.location)
	}
	found, good := false, true
	err := r.Members(func(name string) error {
		switch name {
		case "data":
			found = true
			if r.Kind() != '[' {
				found = false
				return r.Skip()
			}
			return r.Elements(c.location)
		case "status_code":
			v, err := r.Value()
			good = err != nil || success(v)
			return err
		}
		return r.Skip()
	})
	switch {
	case err != nil:
		return err
	case !good:
		return r.Error(format.BadStatus)
	case !found:
		return r.Error(format.NotFormat)
	}
	return nil
}

// success reports whether a status code is one of success, 1xxx. A word in its place, as some publishers write, counts
// as success.
func success(v jsondoc.Value) bool {
	code, isNumber := v.NumberOrText()
	return !isNumber || code >= 1000 && code < 2000
}

func (c *converter) location() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	return c.yield(c.item(v))
}

// item converts a location to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(v jsondoc.Value) format.Item {
	if v.Kind() != '{' {
		return format.Item{Skip: format.NotAnItem}
	}
	item := format.Item{ID: idOf(v)}
	if item.ID == "" {
		item.Skip = format.NoID
		return item
	}
	if public, known := v.Get("publish").Bool(); known && !public {
		item.Skip = format.NotPublic
		return item
	}
	site := format.Site{Charging: format.Charging{
		Name: v.Get("name").Text(), City: v.Get("city").Text(), Postcode: v.Get("postal_code").Text(),
		Country: v.Get("country").Text(), Operator: operator(v),
	}}
	for evse := range v.Get("evses").Elements() {
		status := evse.Get("status").Text()
		if !site.Point(status) {
			item.Word = strings.TrimSpace(status)
			continue
		}
		for connector := range evse.Get("connectors").Elements() {
			c.connector(&site, connector)
		}
	}
	if site.Points() == 0 {
		item.Skip = format.Removed
		return item
	}
	item.Word = ""
	lat, goodLat := v.Get("coordinates", "latitude").NumberOrText()
	lng, goodLng := v.Get("coordinates", "longitude").NumberOrText()
	if !goodLat || !goodLng {
		item.Skip = format.NoPosition
		return item
	}
	row := format.Row{ID: item.ID, Point: geo.Point{Lat: lat, Lng: lng}, Properties: format.Properties{Street: v.Get("address").Text()}}
	row.Kind, row.Properties.Charging = site.Finish(c.o.ChargerNetwork)
	c.row = row.Append(c.row[:0])
	item.Row = c.row
	return item
}

// idOf returns country_code*party_id*id where all three are present, because ids are unique within a party only.
func idOf(v jsondoc.Value) string {
	id, country, party := v.Get("id").Text(), v.Get("country_code").Text(), v.Get("party_id").Text()
	if id == "" || country == "" || party == "" {
		return id
	}
	return country + "*" + party + "*" + id
}

func operator(v jsondoc.Value) string {
	if name := v.Get("operator", "name").Text(); strings.TrimSpace(name) != "" {
		return name
	}
	country, party := v.Get("country_code").Text(), v.Get("party_id").Text()
	if country == "" || party == "" {
		return ""
	}
	return country + "-" + party
}

func (c *converter) connector(site *format.Site, v jsondoc.Value) {
	current := strings.ToUpper(strings.TrimSpace(v.Get("power_type").Text()))
	if current == "DC" {
		site.DirectCurrent()
	}
	site.Power(watts(v, current) / 1000)
	site.Plug(c.plugs, v.Get("standard").Text())
}

// watts returns the power of a connector, or 0 if it is not known.
func watts(v jsondoc.Value, current string) float64 {
	if power, ok := v.Get("max_electric_power").NumberOrText(); ok && power > 0 {
		return power
	}
	product := either(v, "max_voltage", "voltage") * either(v, "max_amperage", "amperage")
	if current == "AC_3_PHASE" {
		product *= math.Sqrt(3)
	}
	return product
}

// either returns the number of a member, by its current name or by that of OCPI 2.1.1.
func either(v jsondoc.Value, name, old string) float64 {
	if n, ok := v.Get(name).NumberOrText(); ok {
		return n
	}
	n, _ := v.Get(old).NumberOrText() // 0 if absent
	return n
}
