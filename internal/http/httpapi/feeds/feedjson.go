package feeds

import (
	"encoding/json"
	"math"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

type layerJSON struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
}

func newLayerJSON(l *mapdata.Layer) layerJSON { return layerJSON{l.ID, l.Slug, l.Name} }

// publicFeed is a feed as everybody sees it (D5.4).
type publicFeed struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Attribution string `json:"attribution"`
	Licence     string `json:"licence"`
	Direction   string `json:"direction"`
	Visibility  string `json:"visibility"`
	IsApproved  bool   `json:"is_approved"`
	IsPublic    bool   `json:"is_public"`
	LayerID     string `json:"layer_id"`
	LayerName   string `json:"layer_name"`
	LayerSlug   string `json:"layer_slug"`
}

// fullFeed is a feed as its owner and curators see it, without secrets. Curators do not see the query of its URL. Members that do not apply to push feeds, or
// have no value yet, are null.
type fullFeed struct {
	publicFeed
	Active      bool              `json:"active"`
	Paused      *pauseJSON        `json:"paused"` // null: no curator paused it
	SpecURL     string            `json:"spec_url"`
	ReviewState string            `json:"review_state"`
	ReviewNote  string            `json:"review_note"`
	Version     string            `json:"review_version"`
	Change      *words            `json:"pending_change"` // null: no change waits beside the words that readers see
	EntityCount int               `json:"entity_count"`
	Storage     storage           `json:"storage"`
	CreatedAt   httpapi.Timestamp `json:"created_at"`
	UpdatedAt   httpapi.Timestamp `json:"updated_at"`

	PullURL             *string           `json:"pull_url"`
	PullIntervalSeconds *int64            `json:"pull_interval_seconds"`
	HasPullAuthHeader   bool              `json:"has_pull_auth_header"`
	NextFetchAt         httpapi.Timestamp `json:"next_fetch_at"`
	LastFetchedAt       httpapi.Timestamp `json:"last_fetched_at"`
	LastFetchOutcome    *string           `json:"last_fetch_outcome"`
	LastFetchError      *string           `json:"last_fetch_error"`
	LastFetchRows       *int              `json:"last_fetch_rows"`
	LastFetchRejected   *int              `json:"last_fetch_rejected"`
	ConsecutiveFailures int               `json:"consecutive_failures"`
	Shrank              bool              `json:"shrank"`

	LastPushAt httpapi.Timestamp `json:"last_push_at"`

	Format           *string         `json:"format"`
	Mapping          json.RawMessage `json:"mapping"`
	StatusURL        *string         `json:"status_url"`
	TimeZone         *string         `json:"time_zone"`
	ChargerNetwork   *string         `json:"charger_network"`
	LastFetchSkipped *int            `json:"last_fetch_skipped"`
	LastFetchSkips   []skipJSON      `json:"last_fetch_skips"`
}

// skipJSON is one reason for which items of the last document became no row.
type skipJSON struct {
	Reason   string         `json:"reason"`
	Items    int            `json:"items"`
	Words    map[string]int `json:"words"`
	Examples []string       `json:"examples"`
}

func newSkipsJSON(all []mapdata.Skip) []skipJSON {
	skips := make([]skipJSON, len(all))
	for i := range all {
		s := &all[i]
		skips[i] = skipJSON{Reason: s.Reason, Items: s.Items, Words: make(map[string]int, len(s.Words)), Examples: append([]string{}, s.Examples...)}
		for _, w := range s.Words {
			skips[i].Words[w.Word] = w.Items
		}
	}
	return skips
}

// pauseJSON is a pause by a curator or the operator.
type pauseJSON struct {
	By     string            `json:"by"`
	Reason string            `json:"reason"`
	At     httpapi.Timestamp `json:"at"`
}

// words are the texts of a feed that the review of a published feed is about (D5.5).
type words struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Attribution string `json:"attribution"`
	Licence     string `json:"licence"`
	LayerName   string `json:"layer_name"`
	SpecURL     string `json:"spec_url"`
}

// storage is how full a feed is (D5.10). A bound that is off is null.
type storage struct {
	Entities    int    `json:"entities"`
	EntityLimit *int   `json:"entity_limit"`
	Bytes       int64  `json:"bytes"`
	ByteLimit   *int64 `json:"byte_limit"`
}

func newStorage(v *feed.View) storage {
	s := storage{Entities: v.Holds.Entities, Bytes: v.Holds.Bytes}
	if v.MayHold.Entities != math.MaxInt {
		s.EntityLimit = &v.MayHold.Entities
	}
	if v.MayHold.Bytes != math.MaxInt64 {
		s.ByteLimit = &v.MayHold.Bytes
	}
	return s
}

// NewFeedJSON converts a feed to the shape that the caller may see.
func NewFeedJSON(v *feed.View) any {
	f := &v.Feed
	public := publicFeed{
		ID: f.ID.String(), Name: f.Name, Description: f.Description, Attribution: f.Attribution, Licence: f.Licence,
		Direction: string(f.Direction), Visibility: string(f.Visibility), IsApproved: f.Approved(), IsPublic: f.Published(),
		LayerID: f.Layer.ID, LayerName: f.Layer.Name, LayerSlug: f.Layer.Slug,
	}
	if !v.Full {
		return public
	}
	full := fullFeed{
		publicFeed: public,
		Active:     f.Active, SpecURL: f.SpecURL, ReviewState: string(f.ReviewState), ReviewNote: f.ReviewNote, Version: feed.Version(f),
		EntityCount: v.Entities, Storage: newStorage(v), CreatedAt: httpapi.Timestamp(f.CreatedAt), UpdatedAt: httpapi.Timestamp(f.UpdatedAt),
		LastPushAt: httpapi.Timestamp(f.LastPushAt),
	}
	if f.Proposed != nil {
		change := words(*f.Proposed)
		full.Change = &change
	}
	if f.Pause.InForce() {
		full.Paused = &pauseJSON{By: string(f.Pause.By), Reason: f.Pause.Reason, At: httpapi.Timestamp(f.Pause.At)}
	}
	if f.Direction == mapdata.Pull {
		full.setPull(v)
	}
	return full
}

func (j *fullFeed) setPull(v *feed.View) {
	f, p, address := &v.Feed, &v.Polling, v.ShownURL()
	seconds := int64(f.PullInterval / time.Second)
	j.PullURL, j.PullIntervalSeconds, j.HasPullAuthHeader = &address, &seconds, f.PullAuthSealed != nil
	j.NextFetchAt, j.LastFetchedAt = httpapi.Timestamp(p.NextFetchAt), httpapi.Timestamp(p.LastFetchedAt)
	j.ConsecutiveFailures, j.Shrank = p.ConsecutiveFailures, p.Shrank
	if p.LastOutcome != "" {
		outcome := string(p.LastOutcome)
		j.LastFetchOutcome, j.LastFetchRows, j.LastFetchRejected = &outcome, &p.LastRows, &p.LastRejected
	}
	if p.LastError != "" {
		j.LastFetchError = &p.LastError
	}
	j.setBridge(v)
}

// setBridge sets the members of a feed whose documents are not v1 rows; those that the feed lacks are null.
func (j *fullFeed) setBridge(v *feed.View) {
	b, format := &v.Bridge, v.Bridge.FormatName()
	j.Format = &format
	if b.Mapping != "" {
		j.Mapping = json.RawMessage(b.Mapping)
	}
	status := v.ShownStatusURL()
	for _, member := range []struct {
		from string
		to   **string
	}{{status, &j.StatusURL}, {b.TimeZone, &j.TimeZone}, {b.ChargerNetwork, &j.ChargerNetwork}} {
		if member.from != "" {
			*member.to = &member.from
		}
	}
	if v.Bridged() && v.Polling.LastOutcome != "" {
		j.LastFetchSkipped, j.LastFetchSkips = &v.Polling.LastSkipped, newSkipsJSON(v.Polling.Skips)
	}
}
