// Package traff reads traffic messages of TraFF (D17.33).
package traff

import (
	"errors"
	"io"
	"slices"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/xmldoc"
)

// Convert reads messages of TraFF; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	c := converter{o: o, words: format.Vocabulary()}
	r := xmldoc.New(body, o.Budget)
	found := false
	for {
		name, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return format.Summary{}, r.Error(format.NotFormat)
		case errors.Is(err, io.EOF):
			return c.summary, nil
		case err != nil:
			return format.Summary{}, err
		case name == "feed":
			found = true
		case name == "message" && found:
			n, err := r.Element()
			if err == nil {
				err = yield(c.item(n))
			}
			if err != nil {
				return format.Summary{}, err
			}
		}
	}
}

type converter struct {
	o       *format.Options
	words   *format.Tables
	summary format.Summary
	row     []byte
}

// item converts a message to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(n xmldoc.Node) format.Item {
	item := format.Item{ID: n.Attr("id")}
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	kind, word := c.kindOf(n)
	when := format.When{Start: format.Time(n.Attr("start_time"), c.o.Zone), End: format.Time(n.Attr("end_time"), c.o.Zone)}
	if when.End.IsZero() {
		when.End = format.Time(n.Attr("expiration_time"), c.o.Zone)
	}
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	switch {
	case item.ID == "":
		return skip(format.NoID, "")
	case n.Attr("cancellation") == "true":
		return skip(format.NotActive, "cancellation")
	case kind == "":
		return skip(format.NoKind, word)
	case verdict.Skip == format.Ended:
		return skip(format.Ended, "")
	case n.Attr("forecast") == "true":
		return skip(format.NotYet, "forecast")
	case verdict.Skip != "":
		return skip(verdict.Skip, "")
	}
	location := n.First("location")
	place := placeOf(location)
	if place.Skip != "" {
		return skip(place.Skip, word)
	}
	p := format.Properties{
		Street: location.Attr("road_ref"), BothDirection: location.Attr("directionality") == "BOTH_DIRECTIONS",
		Severity: c.words.Severity["traff_urgency"][n.Attr("urgency")], StartsAt: when.Start, EndsAt: when.End, SourceType: word,
	}
	if p.Street == "" {
		p.Street = location.Attr("road_name")
	}
	for event := range n.First("events").All("event") {
		if speed := format.ParseNumber(event.Attr("speed")); speed != (format.Number{}) {
			p.SpeedKmh = speed
			break
		}
	}
	row := format.Row{ID: item.ID, Kind: kind, Point: place.Point, ObservedAt: format.Time(n.Attr("receive_time"), c.o.Zone), Properties: p}
	c.row = row.Append(c.row[:0])
	item.Row, item.EndsAt = c.row, verdict.End
	return item
}

// kindOf returns the kind of the gravest event, and its word; without a kind, the word of the first event.
func (c *converter) kindOf(n xmldoc.Node) (kind, word string) {
	works := false
	for event := range n.First("events").All("event") {
		works = works || event.Attr("class") == "CONSTRUCTION"
	}
	for event := range n.First("events").All("event") {
		typ := event.Attr("type")
		means := format.LanesKind(c.eventKind(event.Attr("class"), typ), works)
		if word == "" || c.words.Graver(means, kind) {
			kind, word = means, typ
		}
	}
	return kind, word
}

// eventKind returns the kind of one event: by its type, by a part of its type, or by its class.
func (c *converter) eventKind(class, typ string) string {
	if kind, known := c.words.TraFF.Event[typ]; known {
		return kind
	}
	if slices.Contains([]string{"HAZARD", "INCIDENT", "WEATHER", "ENVIRONMENT"}, class) {
		for _, part := range c.words.TraFF.Contains {
			if strings.Contains(typ, part[0]) {
				return part[1]
			}
		}
	}
	return c.words.TraFF.Class.Kind(class, "")
}

// placeOf returns the position of a message: a point, since a message states only the ends of its line.
func placeOf(location xmldoc.Node) geometry.Place {
	for _, name := range [...]string{"at", "from", "to"} {
		if positions := geometry.Positions(strings.FieldsSeq(location.First(name).Text()), false); len(positions) > 0 {
			return geometry.Place{Point: positions[0]}
		}
	}
	return geometry.Place{Skip: format.NoPosition}
}
