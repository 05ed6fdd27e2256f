package datex2energy

import (
	"errors"
	"io"
	"strings"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/xmldoc"
)

// Names of publications and of their parts.
const (
	tablePublication  = "energyInfrastructureTablePublication"
	statusPublication = "energyInfrastructureStatusPublication"
	siteElement       = "energyInfrastructureSite"
	statusElement     = "refillPointStatus"
)

// Convert reads charging sites of DATEX II; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	c := converter{o: o, yield: yield, words: format.Vocabulary(), statuses: make(map[string]status), tree: tree{budget: o.Budget, names: make(map[string]string)}}
	if err := c.readStatuses(d); err != nil {
		return format.Summary{}, err
	}
	found, err := c.read(d, false)
	if err == nil && !found[tablePublication] {
		err = &format.Error{Fault: format.NotFormat}
	}
	return c.summary, err
}

// readStatuses reads the second document, otherwise the statuses within the document itself, which most documents lack.
func (c *converter) readStatuses(d format.Document) error {
	if d.Status != nil {
		c.hasStatuses = true
		found, err := c.read(format.Document{Open: d.Status}, true)
		if err == nil && !found[statusPublication] {
			err = &format.Error{Fault: format.NotFormat}
		}
		return err
	}
	has, err := format.Mentions(d, "StatusPublication", "PointStatus")
	if !has || err != nil {
		return err
	}
	c.twice = true
	found, err := c.read(d, true)
	c.hasStatuses = found[statusPublication]
	return err
}

type converter struct {
	o           *format.Options
	yield       func(format.Item) error
	words       *format.Tables
	summary     format.Summary
	statuses    map[string]status // by the id of a point
	hasStatuses bool              // a publication of statuses was found
	found       map[string]bool   // publications of the current document
	dynamic     bool              // statuses are wanted of the document, not sites
	twice       bool              // the document is read twice: for statuses, then for sites
	tree        tree
	row         []byte
}

// statusSize is the memory of a status beside its texts, in bytes.
const statusSize = 100

// status is the status of a charging point.
type status struct {
	word string
	at   time.Time
}

// read reads a document for its statuses, or for its sites, and returns the publications that it has.
func (c *converter) read(d format.Document, dynamic bool) (map[string]bool, error) {
	c.found, c.dynamic = make(map[string]bool), dynamic
	isXML, err := format.IsXML(d)
	switch {
	case err != nil:
	case isXML:
		err = c.readXML(d)
	default:
		err = jsondoc.Read(d, c.o.Budget, c.readJSON)
	}
	return c.found, err
}

func (c *converter) readXML(d format.Document) error {
	body, err := d.Open()
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // it was only read
	r := xmldoc.New(body, c.o.Budget)
	for {
		name, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		typ := r.Attr("type")
		c.meet(small(name))
		c.meet(small(typ[strings.LastIndexByte(typ, ':')+1:]))
		switch small(name) {
		case siteElement, statusElement, "publicationCreator":
			if !c.wants(small(name)) {
				continue
			}
			n, err := r.Element()
			if err == nil {
				err = c.taken(c.tree.ofXML(n))
			}
			if err != nil {
				return err
			}
		}
	}
}

// wants reports whether the current reading uses a part of the document: sites, or statuses.
func (c *converter) wants(name string) bool {
	return name == "publicationCreator" || c.dynamic == (name == statusElement)
}

// meet records a publication.
func (c *converter) meet(name string) {
	if name == tablePublication || name == statusPublication {
		c.found[name] = true
	}
}

// readJSON descends through any envelope.
func (c *converter) readJSON(r *jsondoc.Reader) error {
	switch r.Kind() {
	case '[':
		return r.Elements(func() error { return c.readJSON(r) })
	case '{':
		return r.Members(func(name string) error { return c.member(r, c.tree.plain(name)) })
	}
	return r.Skip()
}

func (c *converter) member(r *jsondoc.Reader, name string) error {
	c.meet(name)
	switch name {
	case tablePublication, statusPublication:
		switch {
		case c.dynamic != (name == tablePublication):
		case c.twice && c.dynamic:
			return c.pass(r, siteElement)
		case c.twice:
			return c.pass(r, statusElement)
		default:
			return r.Skip()
		}
	case siteElement, statusElement, "publicationCreator":
		if !c.wants(name) {
			return r.Skip()
		}
		if r.Kind() == '[' {
			return r.Elements(func() error { return c.value(r, name) })
		}
		return c.value(r, name)
	}
	return c.readJSON(r)
}

// pass skips a publication that only the other reading uses. It passes each value of the named element with Pass, which
// is quicker.
func (c *converter) pass(r *jsondoc.Reader, element string) error {
	switch r.Kind() {
	case '[':
		return r.Elements(func() error { return c.pass(r, element) })
	case '{':
		return r.Members(func(name string) error {
			switch {
			case c.tree.plain(name) != element:
				return c.pass(r, element)
			case r.Kind() == '[':
				return r.Elements(r.Pass)
			}
			return r.Pass()
		})
	}
	return r.Skip()
}

func (c *converter) value(r *jsondoc.Reader, name string) error {
	v, err := r.Value()
	if err != nil {
		return err
	}
	if v.Kind() != '{' {
		if name == siteElement {
			return c.yield(format.Item{Skip: format.NotAnItem})
		}
		return nil
	}
	return c.taken(c.tree.ofJSON(name, v))
}

// taken handles a part, unless its tree holds more than an item may.
func (c *converter) taken(t thing) error {
	if err := c.o.Budget.Err(); err != nil {
		return err
	}
	return c.take(t)
}

// take stores a status, or converts a site to a row.
func (c *converter) take(t thing) error {
	switch t.part().name {
	case siteElement:
		return c.yield(c.item(t))
	case "publicationCreator":
		c.summary.Publisher = format.Text(t.kid("nationalIdentifier").words())
		return nil
	}
	if inner := t.kid("electricChargingPointStatus"); inner.exists() {
		t = inner
	}
	id := t.kid("reference").id()
	if id == "" {
		return nil
	}
	if len(c.statuses) == format.MaxItems {
		return &format.Error{Fault: format.TooMany}
	}
	next := status{t.kid("status").words(), format.Time(t.kid("lastUpdated").words(), c.o.Zone)}
	if !c.o.Budget.Keep(statusSize + len(id) + len(next.word)) {
		return c.o.Budget.Err()
	}
	if before, twice := c.statuses[id]; !twice || next.after(before) {
		c.statuses[id] = next
	}
	return nil
}

// after reports whether s counts rather than another status of the same point: the later one does, whatever their order
// in the document.
func (s status) after(other status) bool {
	return s.at.After(other.at) || s.at.Equal(other.at) && s.word < other.word
}
