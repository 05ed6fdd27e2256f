package digitraffic

import (
	"slices"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
)

// Convert reads Finland's traffic messages; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	c := converter{r: jsondoc.New(body, o.Budget), o: o, yield: yield, words: format.Vocabulary()}
	features := false
	err = c.r.Members(func(name string) error {
		if name != "features" {
			return c.r.Skip()
		}
		features = true
		return c.r.Elements(c.feature)
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

func (c *converter) feature() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	return c.yield(c.item(v))
}

// item converts a situation to a row, or returns the first reason to skip it (D17.11).
func (c *converter) item(v jsondoc.Value) format.Item {
	properties := v.Get("properties")
	if properties.Kind() != '{' {
		return format.Item{Skip: format.NotAnItem}
	}
	item := format.Item{ID: properties.Get("situationId").Text()}
	if item.ID == "" {
		item.Skip = format.NoID
		return item
	}
	kind, word := c.kind(properties)
	if kind == "" {
		item.Skip, item.Word = format.NoKind, word
		return item
	}
	announcement := properties.Get("announcements").Index(0)
	when := c.times(announcement)
	verdict := c.o.Judge(&when)
	c.summary.Meet(verdict.Again)
	if verdict.Skip != "" {
		item.Skip = verdict.Skip
		return item
	}
	location := announcement.Get("locationDetails", "roadAddressLocation")
	both := lower(location.Get("direction")) == "both"
	place := geometry.GeoJSON(v.Get("geometry"), both)
	if place.Skip != "" {
		item.Skip, item.Word = place.Skip, v.Get("geometry", "type").Text()
		return item
	}
	phases := c.phases(announcement)
	if phases.closed != "" {
		kind, word = format.RoadClosed, phases.closed
	}
	row := format.Row{
		ID: item.ID, Kind: kind, Point: place.Point,
		Properties: format.Properties{
			Description: announcement.Get("title").Text(), Street: street(location.Get("primaryPoint")), BothDirection: both,
			SpeedLimitKmh: phases.limit, StartsAt: when.Start, EndsAt: when.End, SourceType: word,
		},
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt = c.row, place.Line, verdict.End
	return item
}

// kind returns the kind of a situation, empty for none, and the word that decided: its type, or that of an
// announcement.
func (c *converter) kind(properties jsondoc.Value) (kind, word string) {
	word = lower(properties.Get("situationType"))
	if word != "traffic announcement" {
		return c.words.Digitraffic.SituationType.Kind(word, ""), word
	}
	if own := lower(properties.Get("trafficAnnouncementType")); own != "" {
		word = own
	}
	return c.words.Digitraffic.AnnouncementType.Kind(word, ""), word
}

// times reads when an announcement, or a phase of it, is in force.
func (c *converter) times(v jsondoc.Value) format.When {
	times := v.Get("timeAndDuration")
	return format.When{
		Start: format.Time(times.Get("startTime").Text(), c.o.Zone), End: format.Time(times.Get("endTime").Text(), c.o.Zone),
	}
}

// phases is the effect of the phases of road works that run now.
type phases struct {
	closed string        // the word that closes the road; empty: none does
	limit  format.Number // km/h, of the first phase that has one
}

func (c *converter) phases(announcement jsondoc.Value) (found phases) {
	limited := false
	for phase := range announcement.Get("roadWorkPhases").Elements() {
		when := c.times(phase)
		verdict := c.o.Judge(&when)
		c.summary.Meet(verdict.Again)
		if verdict.Skip != "" {
			continue
		}
		for restriction := range phase.Get("restrictions").Elements() {
			word := lower(restriction.Get("type"))
			if found.closed == "" && slices.Contains(c.words.Digitraffic.Closed, word) {
				found.closed = word
			}
			if limit, ok := restriction.Get("restriction", "quantity").Number(); ok && !limited && word == "speed limit" {
				found.limit, limited = format.Whole(limit), true
			}
		}
	}
	return found
}

// street returns the name of the road, otherwise its number.
func street(point jsondoc.Value) string {
	if name := point.Get("roadName").Text(); name != "" {
		return name
	}
	return point.Get("roadAddress", "road").Text()
}

// lower returns a word as the tables have it: the service writes ROAD_WORK, others "road work".
func lower(v jsondoc.Value) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToLower(v.Text()), "_", " "))
}
