// Package cifs reads incidents and closures in CIFS, XML and JSON, of versions 1 and 2 (D17.27).
package cifs

import (
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/alertwords"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/xmldoc"
	"wayside/internal/ground/geo"
)

// Convert reads a CIFS document; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{o: o, yield: yield}
	isXML, err := format.IsXML(d)
	if err != nil {
		return format.Summary{}, err
	}
	if isXML {
		err = c.readXML(d)
	} else {
		err = jsondoc.Read(d, o.Budget, c.readJSON)
	}
	if err != nil {
		return format.Summary{}, err
	}
	return c.summary, nil
}

type converter struct {
	o       *format.Options
	yield   func(format.Item) error
	summary format.Summary
	row     []byte
}

// incident is an incident of either form, with its members by name, as texts.
type incident struct {
	isIncident bool
	get        func(name string) string // of the incident, otherwise of its location, as version 1 has it
	positions  iter.Seq[string]
	schedule   iter.Seq2[string, string]
	lanes      string
}

// item converts an incident to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(in *incident) format.Item {
	if !in.isIncident {
		return format.Item{Skip: format.NotAnItem}
	}
	item := format.Item{ID: in.get("id")}
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	kind, word := kindOf(in)
	switch {
	case item.ID == "":
		return skip(format.NoID, "")
	case kind == "":
		return skip(format.NoKind, word)
	}
	when := c.when(in)
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	if verdict.Skip != "" {
		return skip(verdict.Skip, "")
	}
	both := in.get("direction") == "BOTH_DIRECTIONS"
	place := geometry.OfLine([][]geo.Point{geometry.Positions(in.positions, false)}, both)
	if place.Skip != "" {
		return skip(place.Skip, word)
	}
	row := format.Row{ID: item.ID, Kind: kind, Point: place.Point, Properties: format.Properties{
		Description: in.get("description"), Street: in.get("street"), BothDirection: both, LanesClosed: format.ParseNumber(in.lanes),
		StartsAt: when.Start, EndsAt: when.End, SourceType: word,
	}}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, place.Line, verdict.End
	return item
}

// kindOf returns the kind of an incident, empty for none, and the word that decided: the subtype, otherwise the type.
func kindOf(in *incident) (kind, word string) {
	typ := in.get("type")
	switch m, known := alertwords.Find(typ, in.get("subtype")); {
	case !known:
		return "", typ
	case !m.Shown:
		return "", m.Word
	default:
		return m.Kind.ID(), m.Word
	}
}

func (c *converter) when(in *incident) format.When {
	w := format.When{Start: format.Time(in.get("starttime"), c.o.Zone), End: format.Time(in.get("endtime"), c.o.Zone)}
	for name, text := range in.schedule {
		days, known := format.Weekday(name)
		if strings.EqualFold(name, "everyday") {
			days, known = format.EveryDay, true
		}
		w.Unread = w.Unread || !known
		for hours := range strings.SplitSeq(text, ",") {
			from, until, both := strings.Cut(hours, "-")
			begins, goodBegin := format.Clock(from)
			ends, goodEnd := format.Clock(until)
			w.Unread = w.Unread || !both || !goodBegin || !goodEnd
			w.AddHours(format.Hours{Days: days, From: begins % (24 * time.Hour), Until: ends})
			if w.Unread {
				return w
			}
		}
	}
	return w
}

func (c *converter) readJSON(r *jsondoc.Reader) error {
	found := false
	err := r.Members(func(name string) error {
		if name != "incidents" && name != "incident" {
			return r.Skip()
		}
		found = true
		return r.Elements(func() error {
			v, err := r.Value()
			if err != nil {
				return err
			}
			return c.yield(c.item(fromJSON(v)))
		})
	})
	if err == nil && !found {
		return r.Error(format.NotFormat)
	}
	return err
}

func fromJSON(v jsondoc.Value) *incident {
	location := v.Get("location")
	either := func(name string) jsondoc.Value {
		if own := v.Get(name); own.Exists() {
			return own
		}
		return location.Get(name)
	}
	in := incident{
		isIncident: v.Kind() == '{',
		get:        func(name string) string { return either(name).Text() },
		lanes:      either("total_closed_lanes").Text(),
		schedule: func(yield func(day, hours string) bool) {
			for day, hours := range v.Get("schedule").Members() {
				if !yield(day, hours.Text()) {
					return
				}
			}
		},
	}
	if lanes := v.Get("lane_impact", "total_closed_lanes"); lanes.Exists() {
		in.lanes = lanes.Text()
	}
	in.positions = func(yield func(string) bool) { numbers(either("polyline"), yield) }
	return &in
}

// numbers yields the numbers of a polyline, which is a text, or an array of numbers, texts or arrays. It reports
// whether yield wants more.
func numbers(v jsondoc.Value, yield func(string) bool) (more bool) {
	if v.Kind() != '[' {
		for word := range strings.FieldsSeq(v.Text()) {
			if !yield(word) {
				return false
			}
		}
		return true
	}
	for element := range v.Elements() {
		if !numbers(element, yield) {
			return false
		}
	}
	return true
}

func (c *converter) readXML(d format.Document) error {
	body, err := d.Open()
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	r := xmldoc.New(body, c.o.Budget)
	found := false
	for {
		name, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return r.Error(format.NotFormat)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case name == "incidents":
			found = true
		case name == "incident" && found:
			n, err := r.Element()
			if err == nil {
				err = c.yield(c.item(fromXML(n)))
			}
			if err != nil {
				return err
			}
		}
	}
}

func fromXML(n xmldoc.Node) *incident {
	get := func(name string) string {
		for _, own := range [...]xmldoc.Node{n.First(name), n.First("location", name)} {
			if own.Exists() {
				return own.Text()
			}
		}
		return n.Attr(name)
	}
	return &incident{
		isIncident: true, get: get, positions: strings.FieldsSeq(get("polyline")), lanes: n.Find("total_closed_lanes").Text(),
		schedule: func(yield func(day, hours string) bool) {
			for day := range n.First("schedule").Children() {
				if !yield(day.Name(), day.Text()) {
					return
				}
			}
		},
	}
}
