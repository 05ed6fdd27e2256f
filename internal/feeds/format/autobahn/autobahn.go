// Package autobahn reads the lists of the service of Germany's motorways: works, closures, warnings and charging
// stations (D17.29).
package autobahn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

// zone is the time zone of the times within descriptions.
const zone = "Europe/Berlin"

// Convert reads lists of the motorway service; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	berlin, err := time.LoadLocation(zone)
	if err != nil {
		return format.Summary{}, fmt.Errorf("time zone of descriptions: %w", err)
	}
	c := converter{
		o: o, yield: yield, words: format.Vocabulary(), berlin: berlin,
		ends:  regexp.MustCompile(`^Ende:\s*(\d\d?\.\d\d?\.\d{4})(?:\s+um)?\s+(\d\d?:\d\d)\b`),
		power: regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s*kW\b`),
		dc:    regexp.MustCompile(`\bDC\b`),
	}
	if err := jsondoc.Read(d, o.Budget, c.document); err != nil {
		return format.Summary{}, err
	}
	return c.summary, nil
}

type converter struct {
	r               *jsondoc.Reader
	o               *format.Options
	yield           func(format.Item) error
	words           *format.Tables
	berlin          *time.Location
	ends, power, dc *regexp.Regexp
	summary         format.Summary
	list            string
	lines           []string // of the entry's description
	row             []byte
}

func (c *converter) document(r *jsondoc.Reader) error {
	c.r = r
	found := false
	err := r.Members(func(name string) error {
		if _, known := c.words.Autobahn.List[name]; !known {
			return r.Skip()
		}
		found, c.list = true, name
		return r.Elements(c.entry)
	})
	if err == nil && !found {
		return r.Error(format.NotFormat)
	}
	return err
}

func (c *converter) entry() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	return c.yield(c.item(v))
}

// item converts an entry to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(v jsondoc.Value) format.Item {
	if v.Kind() != '{' {
		return format.Item{Skip: format.NotAnItem}
	}
	item := format.Item{ID: v.Get("identifier").Text()}
	skip := func(reason format.Reason, word string) format.Item {
		item.Skip, item.Word = reason, word
		return item
	}
	if item.ID == "" {
		return skip(format.NoID, "")
	}
	kind, word := c.kind(v)
	if kind == "" {
		return skip(format.NoKind, word)
	}
	c.lines = c.linesOf(c.lines[:0], v)
	when := format.When{Start: format.Time(v.Get("startTimestamp").Text(), c.o.Zone), End: c.end()}
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	switch {
	case verdict.Skip != "":
		return skip(verdict.Skip, "")
	case isTrue(v.Get("future")):
		return skip(format.NotYet, "future")
	}
	at := place(v)
	if at.Skip != "" {
		return skip(at.Skip, "")
	}
	street, name, _ := strings.Cut(v.Get("title").Text(), " | ")
	row := format.Row{ID: item.ID, Kind: kind, Point: at.Point, Properties: format.Properties{
		Street: street, Description: strings.Join(c.lines, "\n"), StartsAt: when.Start, EndsAt: when.End,
	}}
	if kind == format.Charger {
		row.Kind, row.Properties.Charging = c.charger(name)
	} else {
		row.Properties.SourceType = word
		if minutes, ok := v.Get("delayTimeValue").NumberOrText(); ok {
			row.Properties.DelaySeconds = format.Whole(minutes * 60)
		}
		if speed, ok := v.Get("averageSpeed").NumberOrText(); ok {
			row.Properties.SpeedKmh = format.Num(speed)
		}
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, at.Line, verdict.End
	return item
}

// kind returns the kind of an entry, and the word that decided on it.
func (c *converter) kind(v jsondoc.Value) (kind, word string) {
	words := &c.words.Autobahn
	kind, word = words.List[c.list], c.list
	display := v.Get("display_type").Text()
	if other, known := words.DisplayType[display]; known {
		kind, word = other, display
	}
	if kind == "" || kind == format.Charger {
		return kind, word
	}
	if abnormal := v.Get("abnormalTrafficType").Text(); c.list == "warning" && abnormal != "" {
		kind, word = words.Abnormal, abnormal
	}
	if isTrue(v.Get("isBlocked")) {
		kind, word = words.Blocked, "isBlocked"
	}
	return kind, word
}

// place returns the line of an entry, otherwise its coordinate.
func place(v jsondoc.Value) geometry.Place {
	shape := v.Get("geometry")
	if typ := shape.Get("type"); typ.Is("LineString") || typ.Is("MultiLineString") {
		if at := geometry.GeoJSON(shape, false); at.Skip == "" {
			return at
		}
	}
	lat, goodLat := v.Get("coordinate", "lat").NumberOrText()
	lng, goodLng := v.Get("coordinate", "long").NumberOrText()
	if !goodLat || !goodLng {
		return geometry.Place{Skip: format.NoPosition}
	}
	return geometry.Place{Point: geo.Point{Lat: lat, Lng: lng}}
}

// isTrue reports whether a value is true or the text "true".
func isTrue(v jsondoc.Value) bool { return v.Kind() == 't' || v.Is("true") }

// Bounds of the lines of a description.
const (
	lineSize  = 16   // bytes that a line takes beside its text
	maxLine   = 1000 // bytes of a line that are searched for times and powers, which stand in short lines
	matchWork = 150  // nanoseconds for each of these bytes
)

// linesOf appends the lines of the entry's description to all.
func (c *converter) linesOf(all []string, v jsondoc.Value) []string {
	for line := range v.Get("description").Elements() {
		text := strings.TrimSpace(line.Text())
		if !c.o.Budget.Hold(lineSize + len(text)) {
			break
		}
		all = append(all, text)
	}
	return all
}

// end returns the end that a line of the description states, or the zero time when none does.
func (c *converter) end() time.Time {
	for _, line := range c.lines {
		if !strings.HasPrefix(line, "Ende:") { // a match of each line takes longer
			continue
		}
		if !c.o.Budget.Spend(matchWork * min(len(line), maxLine)) {
			break
		}
		found := c.ends.FindStringSubmatch(line[:min(len(line), maxLine)])
		if found == nil {
			continue
		}
		if at, err := time.Parse("2.1.2006 15:04", found[1]+" "+found[2]); err == nil {
			return format.Shown(at, c.berlin)
		}
	}
	return time.Time{}
}

// charger reads the charging points from the lines of the description.
func (c *converter) charger(name string) (string, *format.Charging) {
	site := format.Site{Charging: format.Charging{Name: name}}
	for _, line := range c.lines {
		if strings.HasPrefix(line, "Ladepunkt") {
			site.Point("")
		}
		line = line[:min(len(line), maxLine)]
		if !c.o.Budget.Spend(matchWork * len(line)) {
			break
		}
		for _, power := range c.power.FindAllStringSubmatch(line, -1) {
			if kw, err := strconv.ParseFloat(strings.Replace(power[1], ",", ".", 1), 64); err == nil {
				site.Power(kw)
			}
		}
		if c.dc.MatchString(line) {
			site.DirectCurrent()
		}
	}
	return site.Finish(c.o.ChargerNetwork)
}
