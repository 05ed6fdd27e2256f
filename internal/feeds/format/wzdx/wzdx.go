// Package wzdx reads work zones: WZDx 4.0 to 4.2, CWZ 1.0, and the top-level members of features of WZDx 3 (D17.20).
package wzdx

import (
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
)

// Convert reads work zones; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	c := converter{r: jsondoc.New(body, o.Budget), o: o, yield: yield, words: format.Vocabulary()}
	features := false
	err = c.r.Members(func(name string) error {
		switch name {
		case "features":
			features = true
			return c.r.Elements(c.feature)
		case "feed_info", "road_event_feed_info":
			return c.info()
		}
		return c.r.Skip()
	})
	if err != nil {
		return format.Summary{}, err
	}
	if err := c.r.End(); err != nil {
		return format.Summary{}, err
	}
	if !features {
		return format.Summary{}, c.r.Error(format.NotFormat)
	}
	return c.summary, nil
}

type converter struct {
	r       *jsondoc.Reader
	o       *format.Options
	yield   func(format.Item) error
	words   *format.Tables
	summary format.Summary
	row     []byte
}

func (c *converter) info() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	c.summary.Publisher = format.Text(v.Get("publisher").Text())
	c.summary.Licence = format.Text(v.Get("license").Text())
	return nil
}

func (c *converter) feature() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	return c.yield(c.item(v))
}

// item converts a feature to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(v jsondoc.Value) format.Item {
	properties := v.Get("properties")
	if properties.Kind() != '{' {
		return format.Item{Skip: format.NotAnItem}
	}
	core := properties.Get("core_details")
	if !core.Exists() {
		core = properties // WZDx 3
	}
	id := v.Get("id")
	if !id.Exists() {
		id = properties.Get("road_event_id") // WZDx 3
	}
	item := format.Item{ID: id.Text()}
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	if item.ID == "" {
		return skip(format.NoID, "")
	}
	if status := either(core, properties, "event_status"); status == "completed" || status == "cancelled" {
		return skip(format.NotActive, status)
	}
	word := core.Get("event_type").Text()
	kind := c.words.WZDx.EventType.Kind(word, "")
	if kind == "" {
		if word == "" {
			word = core.Get("device_type").Text()
		}
		return skip(format.NoKind, word)
	}
	impact := properties.Get("vehicle_impact").Text()
	if closes := c.words.WZDx.Closed.Kind(impact, kind); closes != kind {
		kind, word = closes, impact
	}
	when := format.When{
		Start: format.Time(properties.Get("start_date").Text(), c.o.Zone), End: format.Time(properties.Get("end_date").Text(), c.o.Zone),
	}
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	if verdict.Skip != "" {
		return skip(verdict.Skip, "")
	}
	direction := core.Get("direction").Text()
	place := geometry.GeoJSON(v.Get("geometry"), false)
	if place.Skip != "" {
		return skip(place.Skip, v.Get("geometry", "type").Text())
	}
	row := format.Row{
		ID: item.ID, Kind: kind, Point: place.Point, ObservedAt: format.Time(core.Get("creation_date").Text(), c.o.Zone),
		Properties: format.Properties{
			Description: core.Get("description").Text(), Street: street(core), LanesClosed: closedLanes(properties),
			StartsAt: when.Start, EndsAt: when.End, SourceType: word,
		},
	}
	if !strings.EqualFold(direction, "undefined") && !strings.EqualFold(direction, "unknown") {
		row.Properties.Direction = direction
	}
	if limit, ok := properties.Get("reduced_speed_limit_kph").Number(); ok {
		row.Properties.SpeedLimitKmh = format.Whole(limit)
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, place.Line, verdict.End
	return item
}

// either returns the text of a member of the first value that has it.
func either(first, second jsondoc.Value, name string) string {
	if v := first.Get(name); v.Exists() {
		return v.Text()
	}
	return second.Get(name).Text()
}

// street returns the first name of the road; WZDx 3 has one name.
func street(core jsondoc.Value) string {
	if name := core.Get("road_names").Index(0); name.Exists() {
		return name.Text()
	}
	return core.Get("road_name").Text()
}

// closedLanes returns the number of closed lanes, if the feature lists lanes.
func closedLanes(properties jsondoc.Value) format.Number {
	lanes := properties.Get("lanes")
	if lanes.Kind() != '[' {
		return format.Number{}
	}
	closed := 0
	for lane := range lanes.Elements() {
		if lane.Get("status").Text() == "closed" {
			closed++
		}
	}
	return format.Whole(float64(closed))
}
