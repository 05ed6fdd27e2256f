package console

import (
	"html/template"
	"math"
	"net/http"
	"strconv"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// feedPage is the data of the page of one feed.
type feedPage struct {
	*feed.View
	Address  string
	Own      bool // the visitor may change it
	Owner    bool // and delete it
	Review   string
	State    feedState
	Notices  []notice
	Curl     string // of a push feed, with a placeholder for the token
	GeoJSON  string // path of the map's data
	Now      time.Time
	Fullness string // share of the bounds that the feed uses, translated; empty: there is no bound
	Next     string // time until the next fetch, translated; empty: none is planned

	Votes      []mapdata.VoteDay // newest first
	Rejections []rejection
	Warnings   []rejection // of accepted rows
	Timeline   []timelineEntry
	Older      []timelineEntry // entries that are collapsed at first
	Hidden     []hiddenPin     // by curators
	Roads      *roadsView      // nil: it does nothing to roads

	Live    live
	PushURL string    // of a push feed, with a placeholder for the token
	TestRow time.Time // when the test row expires that may be removed; zero: there is none
}

// rejection is one reason of rejections, or a warning, translated.
type rejection struct {
	mapdata.Rejection
	Why      template.HTML
	Current  bool // it occurs in the newest attempt too
	When     time.Time
	Examples []rejectedRow
}

// rejectedRow is an example.
type rejectedRow struct {
	mapdata.RejectedRow
	Why template.HTML // more specific than the rejection's; empty: there is nothing more specific
}

// timelineEntry is one line of the timeline: an attempt, or several successful pushes within one minute.
type timelineEntry struct {
	mapdata.Attempt
	Times int
	What  string // the outcome, translated
	Size  string
	Took  string
	Good  bool // rows were accepted
}

const maxTimeline = 20

// entitiesURL returns the path of a feed's entities as GeoJSON, with lines as lines.
func entitiesURL(id mapdata.FeedID) string {
	return "/v2/feeds/" + id.String() + "/entities?geometry=line"
}

// getFeed answers GET /feeds/{id}.
func (c *Console) getFeed(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.readableFeed(r, v)
	if err != nil {
		return err
	}
	h, err := c.Feeds.History(r.Context(), mapdata.ActorOf(v.Account), f.ID)
	if err != nil {
		return err
	}
	now := c.Now()
	page := feedPage{
		View: f, Address: feedURL(f.ID), Own: f.ManagedBy(v.ID()), Owner: f.Owner == v.ID(), Review: reviewKey(&f.Feed), State: stateOf(&f.Feed, lastAttempt(h), now),
		Notices: notices(v.Words, &f.Feed, h, now), GeoJSON: entitiesURL(f.ID), Now: now,
		Rejections: rejections(v.Words, h.Rejections, lastAttempt(h)), Warnings: rejections(v.Words, h.Warnings, lastAttempt(h)), Fullness: fullnessText(v.Words, f),
		Live: newLive(feedURL(f.ID), f, h),
	}
	if page.Votes, err = c.Feeds.VoteDays(r.Context(), mapdata.ActorOf(v.Account), f.ID); err != nil {
		return err
	}
	hidden, err := c.Takedowns.Hidden(r.Context(), mapdata.ActorOf(v.Account), f.ID)
	if err != nil {
		return err
	}
	page.Hidden = newHiddenPins(hidden)
	if page.Roads, err = c.roadsOf(r, v, f.ID); err != nil {
		return err
	}
	page.Timeline = timeline(v.Words, h.Attempts)
	if f.Direction == mapdata.Push {
		page.Timeline = groupedTimeline(v.Words, h.Attempts)
	}
	if len(page.Timeline) > maxTimeline {
		page.Timeline, page.Older = page.Timeline[:maxTimeline], page.Timeline[maxTimeline:]
	}
	if f.Direction == mapdata.Push {
		page.Curl, page.PushURL = c.curl("wsp_…"), c.pushURL("wsp_…")
		if page.Own {
			if page.TestRow, err = c.testRowShown(r.Context(), mapdata.ActorOf(v.Account), f, now); err != nil {
				return err
			}
		}
	}
	if next := f.Polling.NextFetchAt; f.Direction == mapdata.Pull && f.Active && !next.IsZero() {
		page.Next = v.Words.Text("feed.next.now")
		if wait := next.Sub(now); wait > 0 {
			page.Next = v.Words.Text("feed.next.in", v.Words.Span(wait))
		}
	}
	return c.show(w, r, v, &Page{Name: "feed", Data: &page, Wide: true, Scripts: []string{MapScript, PageScript}})
}

// rejections translates reasons; last is the newest attempt.
func rejections(w *words.Words, all []mapdata.Rejection, last *mapdata.Attempt) []rejection {
	out, types := make([]rejection, len(all)), link(typesPath, w.Text("types.title"))
	for i := range all {
		key := w.First("rejected."+all[i].Code, "rejected.other")
		out[i] = rejection{
			Rejection: all[i], Why: w.HTML(key, types), When: all[i].At, Current: last != nil && !all[i].At.Before(last.At),
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

// timeline makes one entry of each attempt.
func timeline(w *words.Words, attempts []mapdata.Attempt) []timelineEntry {
	all := make([]timelineEntry, len(attempts))
	for i := range attempts {
		all[i] = timelineEntry{Attempt: attempts[i], Times: 1}
		all[i].translate(w)
	}
	return all
}

// groupedTimeline makes one entry of the successful pushes of a minute, so that the timeline of a feed that pushes
// every second covers more than the last minutes.
func groupedTimeline(w *words.Words, attempts []mapdata.Attempt) []timelineEntry {
	var all []timelineEntry
	for i := range attempts {
		a := &attempts[i]
		if n := len(all); n > 0 && noRejections(a) && noRejections(&all[n-1].Attempt) && a.At.Truncate(time.Minute).Equal(all[n-1].At.Truncate(time.Minute)) {
			all[n-1].add(a)
			continue
		}
		all = append(all, timelineEntry{Attempt: *a, Times: 1})
	}
	for i := range all {
		all[i].translate(w)
	}
	return all
}

// translate fills the entry's texts.
func (m *timelineEntry) translate(w *words.Words) {
	m.What, m.Size, m.Took = outcomeSummary(w, &m.Attempt), sizeText(w, m.Bytes), tookText(w, m.Duration)
	m.Good = m.OK && !allRejected(&m.Attempt)
}

func noRejections(a *mapdata.Attempt) bool { return a.OK && a.Rejected == 0 }

// allRejected reports whether every row was rejected.
func allRejected(a *mapdata.Attempt) bool { return a.OK && a.Rejected > 0 && a.Accepted() == 0 }

// outcomeSummary describes the outcome of an attempt in a few words.
func outcomeSummary(w *words.Words, a *mapdata.Attempt) string {
	switch {
	case !a.OK || a.Rejected == 0:
		return outcomeText(w, a)
	case allRejected(a):
		return w.Text("feed.short." + string(stateAllRejected))
	}
	return w.Text("feed.short." + string(statePartlyRejected))
}

func (m *timelineEntry) add(a *mapdata.Attempt) {
	m.Times++
	m.Rows += a.Rows
	m.Rejected += a.Rejected
	m.Unchanged += a.Unchanged
	m.Retired += a.Retired
	m.Bytes += a.Bytes
	m.Duration += a.Duration
}

// fullnessText describes how much of its bounds a feed uses (D5.10).
func fullnessText(w *words.Words, f *feed.View) string {
	if f.MayHold.Entities == math.MaxInt || f.MayHold.Bytes == math.MaxInt64 {
		return ""
	}
	return w.Text("feed.fullness", f.Holds.Entities, f.MayHold.Entities, sizeText(w, f.Holds.Bytes), sizeText(w, f.MayHold.Bytes))
}

// accountFullnessText describes how much of their bound all feeds of an account use together (D5.10).
func accountFullnessText(w *words.Words, held feed.AccountStorage) string {
	if held.MayHold == math.MaxInt64 {
		return ""
	}
	return w.Text("feed.fullness.account", sizeText(w, held.Holds), sizeText(w, held.MayHold))
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

// listPage lists the entities of a feed, as the alternative to the map.
type listPage struct {
	*mapdata.Feed
	Address   string
	Entities  []mapdata.Entity
	Truncated bool
}

const maxListedEntities = 500

// getFeedList answers GET /feeds/{id}/list.
func (c *Console) getFeedList(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := feedID(r)
	if err != nil {
		return err
	}
	got, err := c.Feeds.Contents(r.Context(), mapdata.ActorOf(v.Account), id, maxListedEntities)
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "feed-list", Wide: true, Scripts: []string{PageScript}, Data: listPage{got.Feed, feedURL(id), got.Entities, got.Truncated}})
}

// place formats an entity's position in degrees, for people.
func place(e *mapdata.Entity) string {
	const digits = 5 // about a metre
	return strconv.FormatFloat(e.Point.Lat, 'f', digits, 64) + ", " + strconv.FormatFloat(e.Point.Lng, 'f', digits, 64)
}

// Place formats an entity's position in degrees.
func (listPage) Place(e mapdata.Entity) string { return place(&e) }

// Text returns an entity's properties as they were published.
func (listPage) Text(e mapdata.Entity) string { return string(e.Properties) }

// KindID returns the id of an entity's kind.
func (listPage) KindID(e mapdata.Entity) string { return e.Kind.ID() }

// EntityID returns an entity's id, as in answers of the API.
func (listPage) EntityID(e mapdata.Entity) string {
	return mapdata.EntityID(e.Feed.SourceID(), e.ExternalID)
}
