package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// feedCmds are wayside feed ….
type feedCmds struct {
	List      feedListCmd      `cmd:"" help:"List feeds."`
	Show      feedShowCmd      `cmd:"" help:"Show one feed."`
	Catalogue feedCatalogueCmd `cmd:"" help:"List open feeds: authorities and operators of chargers that publish openly."`
	Add       feedAddCmd       `cmd:"" help:"Register a pull feed for an account, from the catalogue of open feeds or by flags."`
	Approve   feedApproveCmd   `cmd:"" help:"Approve a feed: drivers see its entities if it is public. Its owner gets an e-mail."`
	Reject    feedRejectCmd    `cmd:"" help:"Reject a feed. Its owner gets an e-mail with the reason."`
	Delete    feedDeleteCmd    `cmd:"" help:"Permanently delete a feed with its layer and entities, without an e-mail to its owner."`
	Pause     feedPauseCmd     `cmd:"" help:"Pause a feed: hide it, and stop its polls and pushes, until it is resumed. Its owner gets an e-mail with the reason."`
	Resume    feedResumeCmd    `cmd:"" help:"Resume a paused feed. Its owner gets an e-mail."`
	Remove    feedRemoveCmd    `cmd:"" help:"Permanently delete a feed with its layer and entities. Its owner gets an e-mail with the reason."`
}

// feedArg selects a feed.
type feedArg struct {
	ID string `arg:"" name:"id" help:"The feed's id."`
}

// errNoFeed is also the error for an invalid id.
var errNoFeed = errors.New("no feed has this id")

func (a *feedArg) id() (mapdata.FeedID, error) {
	id, ok := mapdata.ParseFeedID(a.ID)
	if !ok {
		return mapdata.FeedID{}, errNoFeed
	}
	return id, nil
}

// withFeed prints the feed that do reads or changes.
func (f *adminFlags) withFeed(
	p *program, arg *feedArg, do func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error),
) error {
	return f.with(p, func(ctx context.Context, deps *adminDeps) error {
		id, err := arg.id()
		if err != nil {
			return err
		}
		v, err := do(ctx, deps, id)
		if err != nil {
			return noFeed(err)
		}
		return f.showFeed(ctx, p, deps, v)
	})
}

type feedListCmd struct{ adminFlags }

// Run lists every feed.
func (c *feedListCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		all, err := deps.Feeds.List(ctx, mapdata.Operator())
		if err != nil {
			return err
		}
		shown := make([]feedJSON, len(all))
		rows := [][]string{{"ID", "NAME", "DIRECTION", "VISIBILITY", "REVIEW", "FULL", "STATE"}}
		for i := range all {
			if shown[i], err = shapeFeed(ctx, deps, &all[i]); err != nil {
				return err
			}
			f := &shown[i]
			rows = append(rows, []string{f.ID, f.Name, f.Direction, f.Visibility, f.ReviewState, strconv.Itoa(f.Fullness) + " %", feedState(f)})
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		return p.writeTable(rows)
	})
}

type feedShowCmd struct {
	adminFlags
	feedArg
}

// Run shows one feed.
func (c *feedShowCmd) Run(p *program) error {
	return c.withFeed(p, &c.feedArg, func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error) {
		return deps.Feeds.Get(ctx, mapdata.Operator(), id)
	})
}

// seenFlag binds a decision to the version that was reviewed.
type seenFlag struct {
	Version string `name:"version" placeholder:"V" help:"The review version that feed show printed; the decision is rejected if the feed has changed since."`
}

type feedApproveCmd struct {
	adminFlags
	feedArg
	seenFlag
}

// Run approves a feed. Its owner gets an e-mail.
func (c *feedApproveCmd) Run(p *program) error {
	return c.withFeed(p, &c.feedArg, func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error) {
		return deps.Feeds.Approve(ctx, mapdata.Operator(), id, c.Version)
	})
}

type feedRejectCmd struct {
	adminFlags
	feedArg
	seenFlag
	Note string `name:"note" required:"" placeholder:"N" help:"Reason; included in the e-mail to the owner."`
}

// Run rejects a feed. Its owner gets an e-mail.
func (c *feedRejectCmd) Run(p *program) error {
	return c.withFeed(p, &c.feedArg, func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error) {
		return deps.Feeds.Reject(ctx, mapdata.Operator(), id, c.Version, c.Note)
	})
}

type feedDeleteCmd struct {
	adminFlags
	feedArg
}

// Run deletes a feed.
func (c *feedDeleteCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		id, err := c.id()
		if err != nil {
			return err
		}
		f, err := deps.Feeds.Get(ctx, mapdata.Operator(), id)
		if err != nil {
			return noFeed(err)
		}
		if err := deps.Feeds.Delete(ctx, mapdata.Operator(), id); err != nil {
			return noFeed(err)
		}
		if c.JSON {
			return p.writeJSON(map[string]string{"id": id.String(), "name": f.Name})
		}
		p.printf("deleted %s %s\n", id, printable(f.Name))
		return nil
	})
}

// noFeed explains why a feed was not changed.
func noFeed(err error) error {
	var changed *mapdata.ChangedError
	switch {
	case errors.Is(err, mapdata.ErrNotFound):
		return errNoFeed
	case errors.As(err, &changed):
		text := "the feed has changed since it was looked at"
		for _, f := range changed.Fields {
			text += "; " + f.Field + " " + f.Message
		}
		return errors.New(text)
	}
	return err
}

// feedJSON is a feed in the output of --json: everything that curators see (D5.4), without secrets.
type feedJSON struct {
	ID                  string          `json:"id"`
	Owner               string          `json:"owner"`
	OwnerEmail          string          `json:"owner_email"`
	Name                string          `json:"name"`
	Description         string          `json:"description"`
	Attribution         string          `json:"attribution"`
	Licence             string          `json:"licence"`
	LayerID             string          `json:"layer_id"`
	LayerSlug           string          `json:"layer_slug"`
	LayerName           string          `json:"layer_name"`
	Direction           string          `json:"direction"`
	Visibility          string          `json:"visibility"`
	Active              bool            `json:"active"`
	PausedBy            string          `json:"paused_by,omitempty"`
	PauseReason         string          `json:"pause_reason,omitempty"`
	PausedAt            apiTime         `json:"paused_at"`
	IsApproved          bool            `json:"is_approved"`
	IsPublic            bool            `json:"is_public"`
	ReviewState         string          `json:"review_state"`
	ReviewNote          string          `json:"review_note"`
	ReviewVersion       string          `json:"review_version"`
	SpecURL             string          `json:"spec_url"`
	PullURL             string          `json:"pull_url,omitempty"`
	PullIntervalSeconds int             `json:"pull_interval_seconds,omitempty"`
	Format              string          `json:"format,omitempty"`
	Mapping             json.RawMessage `json:"mapping,omitempty"`
	StatusURL           string          `json:"status_url,omitempty"`
	TimeZone            string          `json:"time_zone,omitempty"`
	ChargerNetwork      string          `json:"charger_network,omitempty"`
	LastFetchSkipped    int             `json:"last_fetch_skipped"`
	LastFetchSkips      map[string]int  `json:"last_fetch_skips,omitempty"` // items by reason
	HasPullAuthHeader   bool            `json:"has_pull_auth_header"`
	NextFetchAt         apiTime         `json:"next_fetch_at"`
	LastFetchedAt       apiTime         `json:"last_fetched_at"`
	LastFetchOutcome    string          `json:"last_fetch_outcome,omitempty"`
	LastFetchError      string          `json:"last_fetch_error,omitempty"`
	LastFetchRows       int             `json:"last_fetch_rows"`
	LastFetchRejected   int             `json:"last_fetch_rejected"`
	ConsecutiveFailures int             `json:"consecutive_failures"`
	LastPushAt          apiTime         `json:"last_push_at"`
	EntityCount         int             `json:"entity_count"`
	StoredEntities      int             `json:"stored_entities"`
	StoredBytes         int64           `json:"stored_bytes"` // of external ids, properties and lines
	Fullness            int             `json:"full_percent"` // of what it may hold (D5.10)
	CreatedAt           apiTime         `json:"created_at"`
	UpdatedAt           apiTime         `json:"updated_at"`
}

func shapeFeed(ctx context.Context, deps *adminDeps, f *feed.View) (feedJSON, error) {
	owner, err := deps.Store.Account(ctx, f.Owner)
	if err != nil {
		return feedJSON{}, err
	}
	shown := feedJSON{
		ID: f.ID.String(), Owner: f.Owner.String(), OwnerEmail: owner.Email, Name: f.Name, Description: f.Description,
		Attribution: f.Attribution, Licence: f.Licence, LayerID: f.Layer.ID, LayerSlug: f.Layer.Slug, LayerName: f.Layer.Name,
		Direction: string(f.Direction), Visibility: string(f.Visibility), Active: f.Active, IsApproved: f.Approved(),
		PausedBy: string(f.Pause.By), PauseReason: f.Pause.Reason, PausedAt: apiTime{f.Pause.At},
		IsPublic: f.Published(), ReviewState: string(f.ReviewState), ReviewNote: f.ReviewNote,
		ReviewVersion: feed.Version(&f.Feed), SpecURL: f.SpecURL,
		PullURL: f.PullURL, PullIntervalSeconds: int(f.PullInterval.Seconds()), HasPullAuthHeader: f.PullAuthSealed != nil,
		NextFetchAt: apiTime{f.Polling.NextFetchAt}, LastFetchedAt: apiTime{f.Polling.LastFetchedAt},
		LastFetchOutcome: string(f.Polling.LastOutcome), LastFetchError: f.Polling.LastError,
		LastFetchRows: f.Polling.LastRows, LastFetchRejected: f.Polling.LastRejected,
		ConsecutiveFailures: f.Polling.ConsecutiveFailures, LastPushAt: apiTime{f.LastPushAt}, EntityCount: f.Entities,
		StoredEntities: f.Holds.Entities, StoredBytes: f.Holds.Bytes, Fullness: fullness(f),
		CreatedAt: apiTime{f.CreatedAt}, UpdatedAt: apiTime{f.UpdatedAt},
	}
	shown.setBridge(&f.Feed)
	return shown, nil
}

// setBridge sets the members about the format of a feed's documents.
func (j *feedJSON) setBridge(f *mapdata.Feed) {
	if f.Direction != mapdata.Pull {
		return
	}
	j.Format, j.StatusURL, j.TimeZone, j.ChargerNetwork = f.Bridge.FormatName(), f.Bridge.StatusURL, f.Bridge.TimeZone, f.Bridge.ChargerNetwork
	if f.Bridge.Mapping != "" {
		j.Mapping = json.RawMessage(f.Bridge.Mapping)
	}
	j.LastFetchSkipped = f.Polling.LastSkipped
	for i := range f.Polling.Skips {
		if j.LastFetchSkips == nil {
			j.LastFetchSkips = make(map[string]int)
		}
		j.LastFetchSkips[f.Polling.Skips[i].Reason] = f.Polling.Skips[i].Items
	}
}

// fullness returns how much of its bounds a feed uses, in per cent: of entities or of bytes, whichever is more (D5.10).
func fullness(f *feed.View) int {
	share := max(float64(f.Holds.Entities)/float64(f.MayHold.Entities), float64(f.Holds.Bytes)/float64(f.MayHold.Bytes))
	return int(math.Ceil(100 * share))
}

// feedState describes the state of a feed in a few words.
func feedState(f *feedJSON) string {
	state := countOf(f.EntityCount, "entity", "entities")
	switch {
	case f.PausedBy != "":
		return "paused by " + f.PausedBy + ", " + state
	case !f.Active:
		return "inactive, " + state
	case f.LastFetchOutcome != "":
		return fmt.Sprintf("last poll %s, %s", f.LastFetchOutcome, state)
	case f.Direction == string(mapdata.Pull):
		return "not polled yet, " + state
	case f.Direction == string(mapdata.Builtin): // nothing is pushed to it
		return state
	case f.LastPushAt.IsZero():
		return "nothing pushed yet"
	}
	return fmt.Sprintf("last push %s, %s", f.LastPushAt.UTC().Format(time.RFC3339), state)
}

// showFeed prints one feed, as JSON or line by line.
func (f *adminFlags) showFeed(ctx context.Context, p *program, deps *adminDeps, view *feed.View) error {
	shown, err := shapeFeed(ctx, deps, view)
	if err != nil {
		return err
	}
	if f.JSON {
		return p.writeJSON(shown)
	}
	rows := [][]string{
		{"id", shown.ID},
		{"name", shown.Name},
		{"owner", shown.OwnerEmail},
		{"layer", shown.LayerSlug},
		{"direction", shown.Direction},
		{"visibility", shown.Visibility},
		{"review", shown.ReviewState},
		{"version", shown.ReviewVersion},
		{"state", feedState(&shown)},
		{"stored", fmt.Sprintf("%d entities, %d bytes: %d %% full", shown.StoredEntities, shown.StoredBytes, shown.Fullness)},
	}
	for _, more := range [][2]string{
		{"description", shown.Description},
		{"attribution", shown.Attribution},
		{"licence", shown.Licence},
		{"review note", shown.ReviewNote},
		{"pause reason", shown.PauseReason},
		{"specification", shown.SpecURL},
		{"pull URL", shown.PullURL},
		{"format", shown.Format},
		{"mapping", string(shown.Mapping)},
		{"status URL", shown.StatusURL},
		{"time zone", shown.TimeZone},
		{"charger network", shown.ChargerNetwork},
		{"skipped", skipsText(view.Polling.Skips)},
		{"last failure", shown.LastFetchError},
	} {
		if more[1] != "" {
			rows = append(rows, []string{more[0], more[1]})
		}
	}
	return p.writeTable(rows)
}

// skipsText lists what the last document skipped: "12 no_kind (detour 9), 3 ended".
func skipsText(all []mapdata.Skip) string {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = fmt.Sprintf("%d %s", all[i].Items, all[i].Reason)
		words := make([]string, len(all[i].Words))
		for j, w := range all[i].Words {
			words[j] = fmt.Sprintf("%s %d", w.Word, w.Items)
		}
		if len(words) > 0 {
			texts[i] += " (" + strings.Join(words, ", ") + ")"
		}
	}
	return strings.Join(texts, ", ")
}
