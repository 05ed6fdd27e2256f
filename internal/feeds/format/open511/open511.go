// Package open511 reads events of Open511, JSON and XML (D17.28).
package open511

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/xmldoc"
)

// Convert reads events of Open511; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{o: o, yield: yield, words: format.Vocabulary()}
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
	words   *format.Tables
	summary format.Summary
	row     []byte
}

// event is an event of either form.
type event struct {
	isEvent             bool
	id, status, typ     string
	severity            string
	description         string
	subtypes, intervals []string
	recurring           []recurring
	roads               []road
	place               func(both bool) geometry.Place
}

type road struct{ name, direction, state string }

// recurring is one of the schedules: dates, hours of the day, and days of the week, 1 being Monday.
type recurring struct {
	startDate, endDate string
	startTime, endTime string
	days               []string
}

// item converts an event to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(e *event) format.Item {
	item := format.Item{ID: e.id}
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	kind, word := c.kindOf(e)
	switch {
	case !e.isEvent:
		return skip(format.NotAnItem, "")
	case e.id == "":
		return skip(format.NoID, "")
	case e.status != "ACTIVE":
		return skip(format.NotActive, e.status)
	case kind == "":
		return skip(format.NoKind, word)
	}
	when := c.when(e)
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	if verdict.Skip != "" {
		return skip(verdict.Skip, "")
	}
	properties := format.Properties{Description: e.description, Severity: c.words.Severity["open511"][e.severity], SourceType: word}
	if len(e.roads) > 0 {
		properties.Street, properties.Direction = e.roads[0].name, e.roads[0].direction
		properties.BothDirection = properties.Direction == "BOTH"
	}
	place := e.place(properties.BothDirection)
	if place.Skip != "" {
		return skip(place.Skip, word)
	}
	properties.StartsAt, properties.EndsAt = bounds(when)
	row := format.Row{ID: e.id, Kind: kind, Point: place.Point, Properties: properties}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, place.Line, verdict.End
	return item
}

// kindOf returns the kind of an event, and the word that decided on it.
func (c *converter) kindOf(e *event) (kind, word string) {
	for _, r := range e.roads {
		if r.state == "CLOSED" {
			return format.RoadClosed, r.state
		}
	}
	if e.typ != "CONSTRUCTION" {
		for _, subtype := range e.subtypes {
			if kind := c.words.Open511.Subtypes.Kind(subtype, ""); kind != "" {
				return kind, subtype
			}
		}
	}
	return c.words.Open511.EventType.Kind(e.typ, ""), e.typ
}

// when reads the schedule of an event.
func (c *converter) when(e *event) format.When {
	var w format.When
	for _, interval := range e.intervals {
		from, until, _ := strings.Cut(interval, "/")
		if w.AddPeriod(format.Period{From: format.Time(from, c.o.Zone), Until: format.Time(until, c.o.Zone)}); w.Unread {
			break
		}
	}
	for i := range e.recurring {
		hours, ok := e.recurring[i].hours()
		w.Unread = w.Unread || !ok
		w.AddHours(hours)
	}
	return w
}

func (r *recurring) hours() (h format.Hours, ok bool) {
	h = format.Hours{Days: format.EveryDay, Until: 24 * time.Hour, First: format.Time(r.startDate, nil), Last: format.Time(r.endDate, nil)}
	ok = true
	if len(r.days) > 0 {
		h.Days = 0
	}
	for _, text := range r.days {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 7 {
			return h, false
		}
		h.Days |= format.Day(time.Weekday(n % 7))
	}
	if r.startTime != "" {
		h.From, ok = format.Clock(r.startTime)
	}
	if r.endTime != "" && ok {
		h.Until, ok = format.Clock(r.endTime)
	}
	return h, ok
}

// bounds returns the start of the first interval and the end of the last one, each zero unless all intervals have it.
func bounds(w format.When) (start, end time.Time) {
	for i, p := range w.Periods {
		if i == 0 {
			start, end = p.From, p.Until
			continue
		}
		if p.From.Before(start) {
			start = p.From
		}
		if p.Until.IsZero() || !end.IsZero() && p.Until.After(end) {
			end = p.Until
		}
	}
	return start, end
}

func (c *converter) readJSON(r *jsondoc.Reader) error {
	found := false
	err := r.Members(func(name string) error {
		switch name {
		case "events":
			found = true
			return r.Elements(func() error {
				v, err := r.Value()
				if err != nil {
					return err
				}
				return c.yield(c.item(fromJSON(v)))
			})
		case "pagination":
			v, err := r.Value()
			if err == nil {
				c.summary.NextPage = v.Get("next_url").Text()
			}
			return err
		}
		return r.Skip()
	})
	if err == nil && !found {
		return r.Error(format.NotFormat)
	}
	return err
}

func fromJSON(v jsondoc.Value) *event {
	e := event{
		isEvent: v.Kind() == '{', id: v.Get("id").Text(), status: v.Get("status").Text(), typ: v.Get("event_type").Text(),
		severity: v.Get("severity").Text(), description: v.Get("description").Text(),
		subtypes: texts(v.Get("event_subtypes")), intervals: texts(v.Get("schedule", "intervals")),
		place: func(both bool) geometry.Place { return geometry.GeoJSON(v.Get("geography"), both) },
	}
	if e.description == "" {
		e.description = v.Get("headline").Text()
	}
	for r := range v.Get("roads").Elements() {
		e.roads = append(e.roads, road{r.Get("name").Text(), r.Get("direction").Text(), r.Get("state").Text()})
	}
	for s := range v.Get("schedule", "recurring_schedules").Elements() {
		e.recurring = append(e.recurring, recurring{
			s.Get("start_date").Text(), s.Get("end_date").Text(), s.Get("daily_start_time").Text(), s.Get("daily_end_time").Text(), texts(s.Get("days")),
		})
	}
	return &e
}

func texts(v jsondoc.Value) []string {
	var list []string
	for element := range v.Elements() {
		list = append(list, element.Text())
	}
	return list
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
		}
		switch name {
		case "events":
			found = true
		case "link":
			if r.Attr("rel") == "next" {
				c.summary.NextPage = r.Attr("href")
			}
		case "event":
			if !found {
				continue
			}
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

func fromXML(n xmldoc.Node) *event {
	e := event{
		isEvent: true, id: n.First("id").Text(), status: n.First("status").Text(), typ: n.First("event_type").Text(),
		severity: n.First("severity").Text(), description: n.First("description").Text(),
		subtypes: children(n.First("event_subtypes")), intervals: children(n.First("schedule", "intervals")),
		place: func(both bool) geometry.Place { return gml(n.First("geography"), both) },
	}
	if e.description == "" {
		e.description = n.First("headline").Text()
	}
	for r := range n.First("roads").Children() {
		e.roads = append(e.roads, road{r.First("name").Text(), r.First("direction").Text(), r.First("state").Text()})
	}
	for s := range n.First("schedule", "recurring_schedules").Children() {
		e.recurring = append(e.recurring, recurring{
			s.First("start_date").Text(), s.First("end_date").Text(), s.First("daily_start_time").Text(), s.First("daily_end_time").Text(), children(s.First("days")),
		})
	}
	return &e
}

func children(n xmldoc.Node) []string {
	var list []string
	for child := range n.Children() {
		list = append(list, child.Text())
	}
	return list
}

// gml reads the geometries of GML, with the latitude first, except in coordinates.
func gml(n xmldoc.Node, both bool) geometry.Place {
	for child := range n.Children() {
		if strings.Contains(child.Name(), "Polygon") || strings.Contains(child.Name(), "Surface") {
			return geometry.Place{Skip: format.Area}
		}
	}
	var parts geometry.List
	for list := range n.Within("posList") {
		parts.Add(strings.FieldsSeq(list.Text()), false)
	}
	for one := range n.Within("pos") {
		parts.Add(strings.FieldsSeq(one.Text()), false)
		break
	}
	for list := range n.Within("coordinates") {
		parts.Add(strings.FieldsFuncSeq(list.Text(), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }), true)
	}
	return geometry.OfLine(parts.Parts, both)
}
