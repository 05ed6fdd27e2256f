package storetest

import (
	"errors"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

func builtinTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a built-in feed belongs to nobody":            keepsBuiltinApart,
		"a built-in feed holds exactly what replaces":  replacesRows,
		"votes on built-in feeds are found by sources": findsBuiltinTallies,
	}
}

// builtin registers a built-in feed.
func (w *testStore) builtin() *mapdata.Feed {
	w.Helper()
	f := w.draft(&mapdata.Account{ID: mapdata.BuiltinOwner})
	f.ID, f.Direction, f.Layer.Slug = mapdata.OSMCamerasID, mapdata.Builtin, string(mapdata.OSMCameras)
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	return f
}

// keepsBuiltinApart checks that no account is visible as the owner of a built-in feed, and that two nodes may create
// it.
func keepsBuiltinApart(w *testStore) {
	w.account()
	before, err := w.store.Accounts(w.ctx)
	w.must(err)
	f := w.builtin()
	again := *f
	if err := w.store.CreateFeed(w.ctx, &again, unlimitedFeeds); !errors.Is(err, mapdata.ErrConflict) {
		w.Errorf("a second one: %v", err)
	}
	w.same("feed", w.feed(f), f)
	after, err := w.store.Accounts(w.ctx)
	w.must(err)
	w.same("accounts", after, before)
	_, err = w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Active = false
		return mapdata.Side{Emails: []mapdata.Email{{Account: f.Owner, Kind: mapdata.EmailFeedPaused, At: start}}}, nil
	})
	w.must(err)
	emails, err := w.store.DueEmails(w.ctx, at(time.Hour), at(2*time.Hour), 10)
	w.must(err)
	if len(emails) != 0 {
		w.Errorf("e-mails to nobody: %+v", emails)
	}
}

const cameraRows = `[{"external_id":"node/1","kind":"camera.speed","lat":1,"lng":2,"properties":{}},
	{"external_id":"node/2","kind":"camera.speed","lat":1,"lng":3,"properties":{"bearing":90}}]`

// replacesRows checks that rows are replaced by others, by the same and by none: entities that a body lacks are
// removed, and an equal body writes nothing.
func replacesRows(w *testStore) {
	f := w.builtin()
	in := ingest.New(w.store, func() time.Time { return start }, signal.NewSet().StoreChanged)
	in.SetLimits(mapdata.StorageLimits{}) // they do not apply
	held := func() (ids []string) {
		w.must(w.store.Stored(w.ctx, f.ID, nil, func(s mapdata.Stored) { ids = append(ids, s.ExternalID) }))
		return ids
	}
	replace := func(body string, want bool, ids ...string) {
		w.Helper()
		revision := w.state().Revision
		_, replaced, err := in.Replace(w.ctx, w.feed(f), []byte(body), start)
		w.must(err)
		if replaced != want || (w.state().Revision != revision) != want {
			w.Errorf("replaced is %v, revision %d after %d", replaced, w.state().Revision, revision)
		}
		if got := held(); len(got) != len(ids) {
			w.Errorf("it holds %q, want %q", got, ids)
		}
	}
	replace(cameraRows, true, "node/1", "node/2")
	replace(cameraRows, false, "node/1", "node/2")
	replace(`[{"external_id":"node/2","kind":"camera.speed","lat":1,"lng":3,"properties":{"bearing":90}}]`, true, "node/2")
	replace("[]", true)
	replace("[]", false)
	if got := w.feed(f).Holds; got != (mapdata.Usage{}) {
		w.Errorf("it still holds %+v", got)
	}
}

// findsBuiltinTallies checks that a replica that loads finds old votes on entities of a built-in feed.
func findsBuiltinTallies(w *testStore) {
	f, voter := w.builtin(), w.account()
	in := ingest.New(w.store, func() time.Time { return start }, signal.NewSet().StoreChanged)
	_, _, err := in.Replace(w.ctx, w.feed(f), []byte(cameraRows), start)
	w.must(err)
	w.cast(ballot(f, "node/1", voter, mapdata.Confirm, start))
	id := mapdata.EntityID(mapdata.OSMCameras, "node/1")
	if id != "osm-cameras:v1:bm9kZS8x" {
		w.Errorf("its id is %s", id)
	}
	confirms := 0
	w.must(w.store.OldTallies(w.ctx, at(time.Hour), func(t *mapdata.Tally) {
		if t.Source == mapdata.OSMCameras && t.ExternalID == "node/1" {
			confirms += t.Confirms
		}
	}))
	if confirms != 1 {
		w.Errorf("a replica finds %d confirms", confirms)
	}
}
