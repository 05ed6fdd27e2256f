package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

const (
	sourcesPath = "/sources"
	sourcePath  = "/sources/{id}"
	statusPath  = "/status"
)

func (c *Console) publicRoutes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: sourcesPath, Who: account.ForGuests, Handle: c.getSources},
		{Method: http.MethodGet, Path: sourcePath, Who: account.ForGuests, Handle: c.getSource},
		{Method: http.MethodGet, Path: statusPath, Who: account.ForGuests, Handle: c.getStatus},
	}
}

// Incidents describes the built-in source of live incidents.
type Incidents struct {
	Attribution string
	Health      func() mapdata.Health
}

// sourceLine is one source of the list.
type sourceLine struct {
	mapdata.Health
	Name        string // empty: the built-in source
	Description string
	Attribution string
	Licence     string // of a feed; the built-in source has only its upstreams' attributions
	SpecURL     string
	Address     string
	Entities    int // -1: not counted
	Kinds       []mapdata.Kind
	Truncated   bool // there may be more kinds
	Direction   mapdata.Direction
	ID          mapdata.SourceID
}

// StatesLicence reports whether the source has a licence, or its provider should have stated one.
func (s sourceLine) StatesLicence() bool {
	return s.Licence != "" || s.Name != "" && s.Direction != mapdata.Builtin
}

// Tone returns how a status is marked.
func (sourceLine) Tone(s mapdata.Status) string { return toneOf(s) }

func toneOf(s mapdata.Status) string {
	switch s {
	case mapdata.Online:
		return "good"
	case mapdata.Degraded:
		return "open"
	case mapdata.Offline:
	}
	return "bad"
}

// sourcesPage is one page of the list.
type sourcesPage struct {
	Sources []sourceLine
	Total   int
	Next    string // path of the next page; empty: there is none
	Region  *Region
}

// maxSourcesShown is how many sources a page shows.
const maxSourcesShown = 30

// getSources answers GET /sources?from=….
func (c *Console) getSources(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	listed := c.Sources.Listed()
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 || from > len(listed) {
		from = 0
	}
	from -= from % maxSourcesShown
	if v.Account == nil && !r.URL.Query().Has("done") {
		key := sourcesKey{v.Words.Language, from}
		text, err := c.guestSources.text(c, r, v, key, listed, func() (*Page, error) { return c.sourcesPage(r, listed, from) })
		if err != nil {
			return err
		}
		text.write(w, r, v)
		return nil
	}
	p, err := c.sourcesPage(r, listed, from)
	if err != nil {
		return err
	}
	return c.show(w, r, v, p)
}

// sourcesPage makes one page of the list.
func (c *Console) sourcesPage(r *http.Request, listed []*mapdata.Feed, from int) (*Page, error) {
	page := sourcesPage{Total: len(listed), Region: c.State().Region}
	if c.Incidents != nil {
		page.Total++
		if from == 0 {
			page.Sources = append(page.Sources, c.builtIn())
		}
	}
	part := listed[from:min(from+maxSourcesShown, len(listed))]
	for _, f := range part {
		line, err := c.sourceLine(r, f)
		if err != nil {
			return nil, err
		}
		page.Sources = append(page.Sources, *line)
	}
	if next := from + len(part); next < len(listed) {
		page.Next = sourcesPath + "?from=" + strconv.Itoa(next)
	}
	return &Page{Name: "sources", Data: &page, Wide: true}, nil
}

func (c *Console) builtIn() sourceLine {
	return sourceLine{
		Health: c.Incidents.Health(), Attribution: c.Incidents.Attribution, Entities: -1, Address: "/", ID: mapdata.Incidents,
	}
}

// sourceLine describes a public feed (D5.4).
func (c *Console) sourceLine(r *http.Request, f *mapdata.Feed) (*sourceLine, error) {
	sketch, err := c.Feeds.Sketch(r.Context(), f.ID)
	if errors.Is(err, mapdata.ErrNotFound) { // the feed was deleted, and the catalogue lags behind the store
		sketch, err = new(feed.Sketch), nil
	}
	if err != nil {
		return nil, err
	}
	line := &sourceLine{
		Name: f.Name, Description: f.Description, Attribution: f.Attribution, Licence: f.Licence, SpecURL: f.SpecURL,
		Direction: f.Direction, ID: f.ID.SourceID(),
		Address: sourcesPath + "/" + url.PathEscape(string(f.ID.SourceID())), Entities: c.Entities(f.ID), Kinds: sketch.Kinds, Truncated: sketch.Truncated,
	}
	if f.ID == mapdata.DriversID {
		line.Entities = -1 // some may be read by their authors alone
	}
	if health := c.Sources.Health([]mapdata.FeedID{f.ID}, c.Now()); len(health) == 1 {
		line.Health = health[0].Health
	}
	return line, nil
}

// getSource answers GET /sources/{id}.
func (c *Console) getSource(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, ok := mapdata.SourceID(r.PathValue("id")).FeedID()
	if !ok {
		return mapdata.ErrNotFound
	}
	f := c.Sources.Feed(id, mapdata.AccountID{})
	if f == nil || !f.Listed() {
		return mapdata.ErrNotFound
	}
	line, err := c.sourceLine(r, f)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "source", Data: sourcePageOf(line), Wide: true, Scripts: []string{MapScript}})
}

// sourcePage is the data of the page of one source.
type sourcePage struct {
	*sourceLine
	GeoJSON string
}

func sourcePageOf(line *sourceLine) sourcePage {
	return sourcePage{line, "/v2/sources/" + url.PathEscape(string(line.ID)) + "/entities?geometry=line"}
}

// State is the state of the service itself.
type State struct {
	Version string
	Since   time.Time // when this node started
	Ready   bool      // it answers reads, and accepts writes
	Shared  bool      // the nodes share a cache
	Reached bool      // and it answers; only with Shared

	Region        *Region // that routes are served from; nil: there is none
	RegionProblem string  // why the one that should be served is not: damaged, format or unreadable; empty: it is
	RegionsDiffer bool    // another node serves another region

	Engine     string // that finds routes outside of this program; empty: it is the embedded one
	EngineDown bool   // its last call failed
}

// Region describes a region to people.
type Region struct {
	ID, DataVersion string
	AsOf            time.Time // of the data; zero: the extract does not say
	Imported        time.Time
	Bounds          string
	Attribution     string
	OpenStreetMap   bool // the data are OpenStreetMap's, whose attribution is a link
}

// statusPage shows the service's state, without details that concern only the operator.
type statusPage struct {
	State
	Counts [3]statusCount
	Total  int
	Review feed.ReviewTime // how long reviews take; zero while the service is not ready
}

type statusCount struct {
	Status mapdata.Status
	Tone   string
	Count  int
}

// getStatus answers GET /status.
func (c *Console) getStatus(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := statusPage{State: c.State()}
	for i, s := range []mapdata.Status{mapdata.Online, mapdata.Degraded, mapdata.Offline} {
		page.Counts[i] = statusCount{Status: s, Tone: toneOf(s)}
	}
	add := func(s mapdata.Status) {
		page.Total++
		for i := range page.Counts {
			if page.Counts[i].Status == s {
				page.Counts[i].Count++
			}
		}
	}
	for _, h := range c.Sources.ServedHealth(c.Now()) {
		add(h.Status)
	}
	if c.Incidents != nil {
		add(c.Incidents.Health().Status)
	}
	status := http.StatusOK
	if page.Ready {
		var err error
		if page.Review, err = c.Feeds.ReviewTime(r.Context()); err != nil {
			return err
		}
	}
	if !page.Ready {
		status = http.StatusServiceUnavailable
	}
	return c.show(w, r, v, &Page{Name: "status", Data: &page, Status: status})
}
