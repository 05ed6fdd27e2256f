package datex2

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/xmldoc"
	"wayside/internal/ground/geo"
)

// Convert reads a DATEX II document; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	c := converter{r: xmldoc.New(body, o.Budget), o: o, yield: yield, words: format.Vocabulary()}
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
	about   about // of the current situation
	row     []byte
}

func (c *converter) creator() error {
	n, err := c.r.Element()
	if err == nil {
		c.summary.Publisher = format.Text(n.First("nationalIdentifier").Text())
	}
	return err
}

// Memory of a record beside its text, in bytes.
const (
	recordSize = 420
	pointSize  = 16 // of its line
)

// about is what a situation states for all its records. It is read once, because a situation may have 200 000 records.
type about struct {
	skip     format.Reason
	word     string
	severity string
}

func aboutOf(situation xmldoc.Node) about {
	header := situation.First("headerInformation")
	a := about{severity: situation.First("overallSeverity").Text()}
	status, confidentiality := header.First("informationStatus").Text(), header.First("confidentiality").Text()
	switch {
	case !isOneOf(status, "", "real"):
		a.skip, a.word = format.NotReal, format.Text(status)
	case !isOneOf(confidentiality, "", "noRestriction", "restrictedToAuthoritiesTrafficOperatorsAndPublishers"):
		a.skip, a.word = format.NotPublic, format.Text(confidentiality)
	}
	return a
}

// record is a situation record that is being converted to a row.
type record struct {
	node  xmldoc.Node
	id    string
	kind  string // empty: none
	word  string // the word that decided on the kind, or on its absence
	place geometry.Place
	when  format.Verdict
	start time.Time
	end   time.Time
	skip  format.Reason
}

// situation converts the records of a situation to rows.
func (c *converter) situation() error {
	n, err := c.r.Element()
	if err != nil {
		return err
	}
	c.about = aboutOf(n)
	var records []record
	for node := range n.All("situationRecord") {
		r := c.read(node)
		if !c.o.Budget.Hold(recordSize + pointSize*len(r.place.Line)) {
			return c.o.Budget.Err()
		}
		records = append(records, r)
	}
	works := false
	for i := range records {
		works = works || records[i].takesPart() && isWorks(records[i].node)
	}
	for i := range records {
		records[i].kind = format.LanesKind(records[i].kind, works)
	}
	at := c.groups(records)
	for i := range records {
		if err := c.yield(c.item(records, i, at)); err != nil {
			return err
		}
	}
	return nil
}

// read evaluates a record by itself, without the other records at its point.
func (c *converter) read(n xmldoc.Node) record {
	r := record{node: n, id: n.Attr("id")}
	r.kind, r.word = c.kindOf(n)
	r.start, r.end, r.when = times(n, c.o)
	c.summary.Meet(r.when.Again)
	switch {
	case n.Type() == "":
		r.skip = format.NotAnItem
	case r.id == "":
		r.skip = format.NoID
	case c.about.skip != "":
		r.skip, r.word = c.about.skip, c.about.word
	case !isActive(n):
		r.skip, r.word = format.NotActive, ""
	default:
		r.place = placeOf(n)
		switch {
		case r.kind == "":
			r.skip = format.NoKind
			if r.when.Skip != "" {
				r.place = geometry.Place{Skip: format.NoPosition} // a record without a position takes no part
			}
		case r.when.Skip != "":
			r.skip = r.when.Skip
		default:
			r.skip = r.place.Skip
		}
	}
	return r
}

// takesPart reports whether a record contributes to its situation's rows: it is not skipped for its status or time.
func (r *record) takesPart() bool {
	switch r.skip {
	case "", format.NoKind, format.Area, format.NoPosition:
		return r.when.Skip == ""
	}
	return false
}

// kindOf returns the kind that a record's words mean, and the word that decided on it.
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

// isWorks reports whether a record describes road works.
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

// item converts the first record with a kind at a point to a row, together with the other records there.
func (c *converter) item(records []record, i int, at map[spot]*group) format.Item {
	r := &records[i]
	item := format.Item{ID: r.id, Skip: r.skip, Word: r.word}
	if r.skip != "" {
		if isOneOf(string(r.skip), string(format.Ended), string(format.NotYet), string(format.Schedule)) {
			item.Word = ""
		}
		return item
	}
	here := at[spotOf(r.place.Point)]
	if here.first != i {
		item.Skip = format.Joined
		return item
	}
	gravest := &records[here.gravest]
	row := format.Row{ID: r.id, Kind: gravest.kind, Point: gravest.place.Point, ObservedAt: observed(gravest.node, c.o), Properties: c.properties(gravest)}
	for _, j := range here.all {
		addProperties(records[j].node, &row.Properties)
	}
	c.row = row.Append(c.row[:0])
	item.Row, item.Line, item.EndsAt, item.Word = c.row, gravest.place.Line, gravest.when.End, ""
	return item
}

// spot is a position rounded to 5 decimals.
type spot struct{ lat, lng float64 }

func spotOf(p geo.Point) spot {
	const decimals = 1e5
	return spot{math.Round(p.Lat * decimals), math.Round(p.Lng * decimals)}
}

// group is the records of a situation at one spot, as indexes. Records without a kind may add properties to the row
// too.
type group struct {
	all            []int32 // records that take part
	first, gravest int     // among records with a kind that are not skipped; -1: none
}

// groups gathers the records at each spot in one pass, because a document may contain 200 000 of them.
func (c *converter) groups(records []record) map[spot]*group {
	at := make(map[spot]*group)
	for i := range records {
		r := &records[i]
		if !r.takesPart() || r.place.Skip != "" {
			continue
		}
		here := at[spotOf(r.place.Point)]
		if here == nil {
			here = &group{first: -1, gravest: -1}
			at[spotOf(r.place.Point)] = here
		}
		here.all = append(here.all, int32(i))
		switch {
		case r.skip != "":
		case here.first < 0:
			here.first, here.gravest = i, i
		case c.words.Graver(r.kind, records[here.gravest].kind):
			here.gravest = i
		}
	}
	return at
}

func observed(n xmldoc.Node, o *format.Options) time.Time {
	if at := format.Time(n.First("situationRecordObservationTime").Text(), o.Zone); !at.IsZero() {
		return at
	}
	return format.Time(n.First("situationRecordCreationTime").Text(), o.Zone)
}

// properties returns the properties of the record that determined the kind.
func (c *converter) properties(r *record) format.Properties {
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
		severity = c.about.severity
	}
	p.Severity = c.words.Severity["datex2"][severity]
	return p
}

// addProperties adds properties that any record at the point may state; the first value of each counts.
func addProperties(n xmldoc.Node, p *format.Properties) {
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

// number parses the number that an element holds.
func number(n xmldoc.Node) (float64, bool) {
	v, err := strconv.ParseFloat(n.Text(), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
