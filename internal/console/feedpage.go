package console

import (
	"html/template"
	"net/http"
	"strconv"
	"time"

	"wayside/internal/console/words"
	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// feedPage is what the page of one feed shows.
type feedPage struct {
	*feed.View
	Address string
	Own     bool // the visitor may change it, and not only look
	Review  string
	State   situation
	Notices []notice
	Curl    string // of a push feed, with a place for the token
	GeoJSON string // address of what the map draws
	Now     time.Time
	Next    string // when it is fetched next, in words; empty: it is not

	Rejections []rejection
	Timeline   []moment
	Older      []moment // those that are not shown at first
}

// rejection is one reason of rejections, in the visitor's words.
type rejection struct {
	mapdata.Rejection
	Why      template.HTML
	Current  bool // it stood in the newest attempt, too
	When     time.Time
	Examples []rejectedRow
}

// rejectedRow is an example of it.
type rejectedRow struct {
	mapdata.RejectedRow
	Why template.HTML // closer than the rejection's; empty: that says it all
}

// moment is one line of the timeline: an attempt, or several pushes of one minute that went well.
type moment struct {
	mapdata.Attempt
	Times int
	What  string // the outcome in words
	Size  string
	Took  string
	Good  bool // something came of it
}

const shownMoments = 20

// getFeed answers GET /feeds/{id}.
func (c *Console) getFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.seenFeed(r, v)
	if err != nil {
		return err
	}
	h, err := c.Feeds.History(r.Context(), feed.By(v.Account), f.ID)
	if err != nil {
		return err
	}
	now := c.Now()
	page := feedPage{
		View: f, Address: addressOf(f.ID), Own: f.Owner == v.ID(), Review: reviewKey(&f.Feed), State: situationOf(&f.Feed, newest(h), now),
		Notices: notices(v.Words, &f.Feed, h, now), GeoJSON: "/v2/feeds/" + f.ID.String() + "/entities", Now: now,
		Rejections: rejections(v.Words, h.Rejections, newest(h)),
	}
	page.Timeline = moments(v.Words, h.Attempts)
	if f.Direction == mapdata.Push {
		page.Timeline = gathered(v.Words, h.Attempts)
	}
	if len(page.Timeline) > shownMoments {
		page.Timeline, page.Older = page.Timeline[:shownMoments], page.Timeline[shownMoments:]
	}
	if f.Direction == mapdata.Push {
		page.Curl = c.curl("wsp_…")
	}
	if next := f.Polling.NextFetchAt; f.Direction == mapdata.Pull && f.Active && !next.IsZero() {
		page.Next = v.Words.Text("feed.next.now")
		if wait := next.Sub(now); wait > 0 {
			page.Next = v.Words.Text("feed.next.in", v.Words.Span(wait))
		}
	}
	return c.show(w, r, v, &Page{Name: "feed", Data: &page, Wide: true, Scripts: []string{MapScript}})
}

// rejections puts reasons into words; last is the newest attempt.
func rejections(w *words.Words, all []mapdata.Rejection, last *mapdata.Attempt) []rejection {
	out := make([]rejection, len(all))
	for i := range all {
		key := w.First("rejected."+all[i].Code, "rejected.other")
		out[i] = rejection{
			Rejection: all[i], Why: w.HTML(key), When: all[i].At, Current: last != nil && !all[i].At.Before(last.At),
			Examples: rejectedRows(w, key, all[i].Examples),
		}
	}
	return out
}

func rejectedRows(w *words.Words, key string, examples []mapdata.RejectedRow) []rejectedRow {
	rows := make([]rejectedRow, len(examples))
	for i := range examples {
		rows[i].RejectedRow = examples[i]
		if closer := key + "." + string(examples[i].Reason); w.Has(closer) {
			rows[i].Why = w.HTML(closer)
		}
	}
	return rows
}

// moments makes the lines of a timeline.
func moments(w *words.Words, attempts []mapdata.Attempt) []moment {
	all := make([]moment, len(attempts))
	for i := range attempts {
		all[i] = moment{Attempt: attempts[i], Times: 1}
		all[i].tell(w)
	}
	return all
}

// gathered does so too, and makes one line of those of one minute without a flaw: who pushes every second sees more of
// the past than the last minutes.
func gathered(w *words.Words, attempts []mapdata.Attempt) []moment {
	var all []moment
	for i := range attempts {
		a := &attempts[i]
		if n := len(all); n > 0 && flawless(a) && flawless(&all[n-1].Attempt) && a.At.Truncate(time.Minute).Equal(all[n-1].At.Truncate(time.Minute)) {
			all[n-1].add(a)
			continue
		}
		all = append(all, moment{Attempt: *a, Times: 1})
	}
	for i := range all {
		all[i].tell(w)
	}
	return all
}

// tell puts the attempt into words.
func (m *moment) tell(w *words.Words) {
	m.What, m.Size, m.Took = whatCame(w, &m.Attempt), sizeText(w, m.Bytes), tookText(w, m.Duration)
	m.Good = m.OK && !fruitless(&m.Attempt)
}

func flawless(a *mapdata.Attempt) bool { return a.OK && a.Rejected == 0 }

// fruitless says whether every row was rejected.
func fruitless(a *mapdata.Attempt) bool { return a.OK && a.Rejected > 0 && a.Accepted() == 0 }

// whatCame is the outcome of an attempt, in a few words.
func whatCame(w *words.Words, a *mapdata.Attempt) string {
	switch {
	case !a.OK || a.Rejected == 0:
		return outcomeText(w, a)
	case fruitless(a):
		return w.Text("feed.short." + string(useless))
	}
	return w.Text("feed.short." + string(partly))
}

func (m *moment) add(a *mapdata.Attempt) {
	m.Times++
	m.Rows += a.Rows
	m.Rejected += a.Rejected
	m.Unchanged += a.Unchanged
	m.Retired += a.Retired
	m.Bytes += a.Bytes
	m.Duration += a.Duration
}

func sizeText(w *words.Words, n int64) string {
	const kilo, shown = 1000, 10_000
	unit := "size.b"
	for _, larger := range []string{"size.kb", "size.mb"} {
		if n < shown {
			break
		}
		n, unit = (n+kilo/2)/kilo, larger
	}
	return w.Text(unit, n)
}

func tookText(w *words.Words, d time.Duration) string {
	const shown = 10 * time.Second
	if d < shown {
		return w.Text("took.ms", (d + time.Millisecond - 1).Milliseconds())
	}
	return w.Span(d)
}

// listPage is the entities of a feed, for those who see no map.
type listPage struct {
	*mapdata.Feed
	Address   string
	Entities  []mapdata.Entity
	Truncated bool
}

const listedEntities = 500

// getFeedList answers GET /feeds/{id}/list.
func (c *Console) getFeedList(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	got, err := c.Feeds.Contents(r.Context(), feed.By(v.Account), id, listedEntities)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-list", Wide: true, Data: listPage{got.Feed, addressOf(id), got.Entities, got.Truncated}})
}

// Place is where an entity is, in degrees, as people read it.
func place(e *mapdata.Entity) string {
	const digits = 5 // about a metre
	return strconv.FormatFloat(e.Point.Lat, 'f', digits, 64) + ", " + strconv.FormatFloat(e.Point.Lng, 'f', digits, 64)
}

// Place is where an entity is, in degrees.
func (listPage) Place(e mapdata.Entity) string { return place(&e) }

// Text is an entity's properties as they were published.
func (listPage) Text(e mapdata.Entity) string { return string(e.Properties) }

// KindID is the id of an entity's kind.
func (listPage) KindID(e mapdata.Entity) string { return e.Kind.ID() }
