// Package overpass reads cameras and chargers of OpenStreetMap from answers of Overpass (D17.31).
package overpass

import (
	"strconv"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Convert reads an answer of Overpass; it implements format.Convert. It reads the document twice, and up to four times
// where enforcement relations name elements, which may occur anywhere in it.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{d: d, o: o, yield: yield, words: format.Vocabulary()}
	for _, pass := range []func() error{c.findRelations, c.findWays, c.findNodes, c.makeRows} {
		if err := pass(); err != nil {
			return format.Summary{}, err
		}
	}
	return format.Summary{}, nil
}

type converter struct {
	d     format.Document
	o     *format.Options
	yield func(format.Item) error
	words *format.Tables
	known elements
	next  int // index of the relation of known that makeRows meets next
	row   []byte
}

// each reads the document once, element by element.
func (c *converter) each(read func(v jsondoc.Value) error) error {
	return jsondoc.Read(c.d, c.o.Budget, func(r *jsondoc.Reader) error {
		found, failed := false, false
		err := r.Members(func(name string) error {
			switch name {
			case "elements":
				found = true
				return r.Elements(func() error {
					v, err := r.Value()
					if err != nil {
						return err
					}
					return read(v)
				})
			case "remark": // an answer that was cut short has a remark, with status 200
				v, err := r.Value()
				failed = strings.HasPrefix(v.Text(), "runtime error")
				return err
			}
			return r.Skip()
		})
		switch {
		case err != nil:
			return err
		case !found:
			return r.Error(format.NotFormat)
		case failed:
			return r.Error(format.BadStatus)
		}
		return nil
	})
}

// makeRows yields the rows, in the last pass.
func (c *converter) makeRows() error { return c.each(c.element) }

func (c *converter) element(v jsondoc.Value) error {
	if v.Kind() != '{' {
		return c.yield(format.Item{Skip: format.NotAnItem})
	}
	if enforcement(v) {
		if c.next == len(c.known.relations) {
			return &format.Error{Fault: format.NotFormat} // the document differs from that of the first pass
		}
		relation := &c.known.relations[c.next]
		c.next++
		return c.enforce(relation)
	}
	tags := v.Get("tags")
	if tags.Len() == 0 {
		return nil
	}
	self, ok := refOf(v, "id")
	item := format.Item{ID: self.String()}
	switch {
	case !ok:
		item = format.Item{Skip: format.NoID}
	case self.kind == 'n' && tags.Get("highway").Is("speed_camera") && c.known.devices[self.id] == nil:
		row := format.Row{Kind: mapdata.SpeedCamera.ID(), Properties: format.Properties{
			MaxspeedKmh: known(speed(tags)), Bearing: known(bearing(tags)), Street: tags.Get("addr:street").Text(),
		}}
		item = c.at(v, item, &row)
	case tags.Get("amenity").Is("charging_station"):
		row := format.Row{Properties: format.Properties{Street: tags.Get("addr:street").Text(), Description: tags.Get("description").Text()}}
		row.Kind, row.Properties.Charging = c.charger(tags)
		item = c.at(v, item, &row)
	case c.known.members[self]:
		return nil
	default:
		item.Skip, item.Word = format.NoKind, wordOf(tags)
	}
	return c.yield(item)
}

// at completes the row of an element that is not part of a relation.
func (c *converter) at(v jsondoc.Value, item format.Item, row *format.Row) format.Item {
	point, ok := placeOf(v)
	if !ok {
		item.Skip = format.NoPosition
		return item
	}
	row.ID, row.Point = item.ID, point
	c.row = row.Append(c.row[:0])
	item.Row = c.row
	return item
}

// placeOf returns the position of an element: its own coordinates, its centre, or the first position of its geometry.
func placeOf(v jsondoc.Value) (geo.Point, bool) {
	for _, at := range []jsondoc.Value{v, v.Get("center"), v.Get("geometry").Index(0)} {
		if point, ok := pointOf(at); ok {
			return point, true
		}
	}
	return geo.Point{}, false
}

func pointOf(v jsondoc.Value) (geo.Point, bool) {
	lat, goodLat := v.Get("lat").Number()
	lng, goodLng := v.Get("lon").Number()
	return geo.Point{Lat: lat, Lng: lng}, goodLat && goodLng
}

// wordOf returns the tag that most likely describes an element without a kind.
func wordOf(tags jsondoc.Value) string {
	for _, name := range []string{"highway", "amenity", "type", "man_made", "railway", "barrier"} {
		if v := tags.Get(name); v.Exists() {
			return name + "=" + v.Text()
		}
	}
	return ""
}

// speed returns a speed limit in km/h, or 0 if it is not known.
func speed(tags jsondoc.Value) float64 {
	text := strings.TrimSpace(tags.Get("maxspeed").Text())
	perHour, miles := strings.CutSuffix(text, "mph")
	if !miles {
		perHour, _ = strings.CutSuffix(text, "km/h")
	}
	n, err := strconv.ParseUint(strings.TrimSpace(perHour), 10, 16)
	if err != nil {
		return 0
	}
	if miles {
		return float64(n) * 1.609344
	}
	return float64(n)
}

// bearing returns a direction in degrees, with 360 for north, or 0 if it is not known.
func bearing(tags jsondoc.Value) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(tags.Get("direction").Text()), 64)
	if err != nil || !(n >= 0 && n <= 360) {
		return 0
	}
	if n == 0 {
		return 360
	}
	return n
}

func known(n float64) format.Number {
	if n == 0 {
		return format.Number{}
	}
	return format.Whole(n)
}

// charger reads the tags of a charging station.
func (c *converter) charger(tags jsondoc.Value) (string, *format.Charging) {
	site := format.Site{Charging: format.Charging{
		Name: tags.Get("name").Text(), City: tags.Get("addr:city").Text(), Postcode: tags.Get("addr:postcode").Text(), Country: tags.Get("addr:country").Text(),
	}}
	for _, name := range []string{"operator", "network", "brand"} {
		if site.Charging.Operator = tags.Get(name).Text(); site.Charging.Operator != "" {
			break
		}
	}
	for name, v := range tags.Members() {
		if strings.HasSuffix(name, ":output") {
			for power := range strings.SplitSeq(v.Text(), ";") {
				site.Power(kilowatts(power))
			}
		}
	}
	for _, socket := range c.words.Overpass.DCSockets {
		if count := tags.Get(socket).Text(); count != "" && count != "no" && count != "0" {
			site.DirectCurrent()
		}
	}
	kind, charging := site.Finish(c.o.ChargerNetwork)
	if capacity, err := strconv.ParseUint(strings.TrimSpace(tags.Get("capacity").Text()), 10, 16); err == nil && capacity > 0 {
		charging.EVSEs = format.Whole(float64(capacity))
	}
	return kind, charging
}

// kilowatts parses a power such as "150 kW", and returns 0 if it is not known.
func kilowatts(text string) float64 {
	text = strings.ToLower(strings.TrimSpace(text))
	number, unit := strings.CutSuffix(text, "kw")
	if !unit {
		return 0
	}
	kw, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(number), ",", ".", 1), 64)
	if err != nil {
		return 0
	}
	return kw
}
