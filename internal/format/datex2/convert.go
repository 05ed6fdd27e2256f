package datex2

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"wayside/internal/format"
	"wayside/internal/format/geometry"
	"wayside/internal/format/xmldoc"
	"wayside/internal/geo"
)

// Convert is a format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	c := converter{r: xmldoc.New(body), o: o, yield: yield, words: format.Vocabulary()}
	publication := 0 // the depth of the publication that is being read; 0: none
	found := false
	for {
		name, err := c.r.Next()
		switch {
		case errors.Is(err, io.EOF) && !found:
			return format.Summary{}, c.r.Error(format.NotFormat)
		case errors.Is(err, io.EOF):
			return c.summary, nil
		case err != nil:
			return format.Summary{}, err
		}
		if publication > 0 && c.r.Depth() <= publication {
			publication = 0
		}
		switch {
		case publication == 0:
			if name == "situationPublication" || strings.HasSuffix(c.r.Attr("type"), "SituationPublication") {
				publication, found = c.r.Depth(), true
			}
		case name == "situation":
			err = c.situation()
		case name == "publicationCreator":
			err = c.creator()
		}
		if err != nil {
			return format.Summary{}, err
		}
	}
}

type converter struct {
	r       *xmldoc.Reader
	o       *format.Options
	yield   func(format.Item) error
	words   *format.Tables
	summary format.Summary
	row     []byte
}

func (c *converter) creator() error {
	n, err := c.r.Element()
	if err == nil {
		c.summary.Publisher = format.Text(n.First("nationalIdentifier").Text())
	}
	return err
}

// record is a situation record on its way to a row.
type record struct {
	node  xmldoc.Node
	id    string
	kind  string // empty: none
	word  string // that decided on the kind, or on there being none
	place geometry.Place
	when  format.Verdict
	start time.Time
	end   time.Time
	skip  format.Reason
}

// situation makes rows of a situation's records.
func (c *converter) situation() error {
	n, err := c.r.Element()
	if err != nil {
		return err
	}
	header := n.First("headerInformation")
	var records []record
	for node := range n.All("situationRecord") {
		records = append(records, c.read(node, header))
	}
	works := false
	for i := range records {
		works = works || records[i].takesPart() && isWorks(records[i].node)
	}
	for i := range records {
		records[i].kind = format.LanesKind(records[i].kind, works)
	}
	for i := range records {
		if err := c.yield(c.item(n, records, i)); err != nil {
			return err
		}
	}
	return nil
}

// read judges all of a record but what the others at its point say.
func (c *converter) read(n, header xmldoc.Node) record {
	r := record{node: n, id: n.Attr("id")}
	r.kind, r.word = c.kindOf(n)
	r.start, r.end, r.when = times(n, c.o)
	c.summary.Meet(r.when.Again)
	switch {
	case n.Type() == "":
		r.skip = format.NotAnItem
	case r.id == "":
		r.skip = format.NoID
	case !isOneOf(header.First("informationStatus").Text(), "", "real"):
		r.skip, r.word = format.NotReal, header.First("informationStatus").Text()
	case !isOneOf(header.First("confidentiality").Text(), "", "noRestriction", "restrictedToAuthoritiesTrafficOperatorsAndPublishers"):
		r.skip, r.word = format.NotPublic, header.First("confidentiality").Text()
	case !isActive(n):
		r.skip, r.word = format.NotActive, ""
	default:
		r.place = placeOf(n)
		switch {
		case r.kind == "":
			r.skip = format.NoKind
			if r.when.Skip != "" {
				r.place = geometry.Place{Skip: format.NoPosition} // it takes no part
			}
		case r.when.Skip != "":
			r.skip = r.when.Skip
		default:
			r.skip = r.place.Skip
		}
	}
	return r
}

// takesPart says whether a record counts for what is told of its situation: it is not skipped for its status or time.
func (r *record) takesPart() bool {
	switch r.skip {
	case "", format.NoKind, format.Area, format.NoPosition:
		return r.when.Skip == ""
	}
	return false
}

// kindOf gives the kind that a record's words mean, and the word that decided on it.
func (c *converter) kindOf(n xmldoc.Node) (kind, word string) {
	words, known := c.words.DATEX2.Record[n.Type()]
	if !known {
		return "", n.Type()
	}
	if words.By == "" {
		return words.Else, n.Type()
	}
	element := n.First(words.By)
	if !element.Exists() {
		element = n.Find(words.By)
	}
	if !element.Exists() && words.Also != "" {
		element = n.Find(words.Also)
	}
	word = element.Text()
	if kind, known = words.Kinds[word]; known {
		if kind == "" {
			word = n.Type() + "/" + word
		}
		return kind, word
	}
	if words.Else == "" && word != "" {
		return "", n.Type() + "/" + word
	}
	return words.Else, n.Type()
}

// isWorks says whether a record tells of works.
func isWorks(n xmldoc.Node) bool {
	return isOneOf(n.Type(), "MaintenanceWorks", "ConstructionWorks", "Roadworks") ||
		isOneOf(n.Find("causeType").Text(), "roadMaintenance", "constructionWork")
}

func isOneOf(text string, words ...string) bool {
	for _, word := range words {
		if text == word {
			return true
		}
	}
	return false
}

// item makes a row of the first record with a kind at a point, together with the others there.
func (c *converter) item(situation xmldoc.Node, records []record, at int) format.Item {
	r := &records[at]
	item := format.Item{ID: r.id, Skip: r.skip, Word: r.word}
	if r.skip != "" {
		if isOneOf(string(r.skip), string(format.Ended), string(format.NotYet), string(format.Schedule)) {
			item.Word = ""
		}
		return item
	}
	gravest := r
	for i := range records {
		other := &records[i]
		if other.skip != "" || !samePoint(other.place.Point, r.place.Point) {
			continue
		}
		if i < at {
			item.Skip = format.Joined
			return item
		}
		if c.words.Graver(other.kind, gravest.kind) {
			gravest = other
		}
	}
	row := format.Row{ID: r.id, Kind: gravest.kind, Point: gravest.place.Point, ObservedAt: observed(gravest.node, c.o), Properties: c.told(situation, gravest)}
	for i := range records {
		if other := &records[i]; other.takesPart() && other.place.Skip == "" && samePoint(other.place.Point, r.place.Point) {
			tellOf(other.node, &row.Properties)
		}
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt, item.Word = c.row, gravest.place.Line, gravest.when.End, ""
	return item
}

// samePoint compares places with 5 decimals.
func samePoint(a, b geo.Point) bool {
	const decimals = 1e5
	return math.Round(a.Lat*decimals) == math.Round(b.Lat*decimals) && math.Round(a.Lng*decimals) == math.Round(b.Lng*decimals)
}

func observed(n xmldoc.Node, o *format.Options) time.Time {
	if at := format.Time(n.First("situationRecordObservationTime").Text(), o.Zone); !at.IsZero() {
		return at
	}
	return format.Time(n.First("situationRecordCreationTime").Text(), o.Zone)
}

// told is what the record that gave the kind tells.
func (c *converter) told(situation xmldoc.Node, r *record) format.Properties {
	location := locationOf(r.node)
	p := format.Properties{
		Description: r.node.First("generalPublicComment").Find("value").Text(), Street: street(location), BothDirection: isBoth(location),
		StartsAt: r.start, EndsAt: r.end, SourceType: r.word,
	}
	if p.Description == "" {
		p.Description = r.node.First("generalPublicComment", "comment").Text()
	}
	if degrees, ok := number(location.find("bearing")); ok {
		p.Bearing = format.Num(degrees)
	}
	severity := r.node.First("severity").Text()
	if severity == "" {
		severity = situation.First("overallSeverity").Text()
	}
	p.Severity = c.words.Severity["datex2"][severity]
	return p
}

// tellOf adds what any record at the point tells, the first of each.
func tellOf(n xmldoc.Node, p *format.Properties) {
	for _, one := range [...]struct {
		element string
		to      *format.Number
	}{
		{"numberOfLanesRestricted", &p.LanesClosed}, {"temporarySpeedLimit", &p.SpeedLimitKmh}, {"delayTimeValue", &p.DelaySeconds}, {"queueLength", &p.LengthMetres},
	} {
		if v, ok := number(n.Find(one.element)); ok && v >= 0 && *one.to == (format.Number{}) {
			*one.to = format.Num(v)
		}
	}
	p.Detour = p.Detour || n.Type() == "ReroutingManagement"
}

// number is the number that an element holds.
func number(n xmldoc.Node) (float64, bool) {
	v, err := strconv.ParseFloat(n.Text(), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
