package console

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/http"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// PageScript adds conveniences to pages that work without scripts too, with one click more: buttons that copy, times in the
// visitor's time zone, and results that appear by themselves (doc.go).
const PageScript = "page.js"

// live lets PageScript refresh the parts of a page that show the state of a feed.
type live struct {
	Page    string // path of the page itself, to reload it without scripts
	Path    string // answers whether anything changed since Version
	Version string
}

func newLive(page string, f *feed.View, h *feed.History) live {
	return live{Page: page, Path: feedURL(f.ID) + "/changed", Version: liveVersion(f, h)}
}

// liveVersion returns a hash of everything that a feed's page shows of pushes, fetches and decisions. It includes the number of
// entities, which changes without a push because entities expire, and because a count may date from before the last change
// (feed.View). Nothing else on the page changes as time passes.
func liveVersion(f *feed.View, h *feed.History) string {
	shown := fmt.Sprintln(f.UpdatedAt.UnixNano(), f.Active, f.ReviewState, f.Pause.By, f.Proposed != nil, f.EntitiesRevision,
		f.Entities, f.Polling.NextFetchAt.UnixNano(), f.Polling.ConsecutiveFailures)
	if last := lastAttempt(h); last != nil {
		shown += fmt.Sprintln(last.At.UnixNano(), last.Outcome, last.Rows, last.Rejected)
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(shown)) // writing to a hash cannot fail
	return hex.EncodeToString(sum.Sum(nil))
}

// getFeedChanged answers GET /feeds/{id}/changed?since=…: 204 if the feed's page would show the same, else 200. The script
// asks every few seconds, which must not use up the account's limit on management.
func (c *Console) getFeedChanged(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	f, err := c.readableFeed(r, v)
	if err != nil {
		return err
	}
	h, err := c.Feeds.History(r.Context(), mapdata.ActorOf(v.Account), f.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	version := liveVersion(f, h)
	if version == r.URL.Query().Get("since") {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	v.Write(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte(version))
	return nil
}
