package storetest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
)

func feedTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"all fields of a feed are stored":              storesFeeds,
		"slugs are made unique":                        makesSlugsUnique,
		"slugs are unique under concurrent creation":   makesSlugsUniqueConcurrently,
		"an owner's number of feeds is limited":        limitsFeeds,
		"a feed needs an existing owner":               refusesUnknownOwner,
		"an id is used once":                           refusesDuplicates,
		"unknown feeds are not found":                  findsNoFeed,
		"a push token finds active push feeds only":    findsByToken,
		"feeds are listed by owner and by visibility":  listsFeeds,
		"an edit stores only the editable fields":      storesEdits,
		"an edit that fails changes nothing":           failsEdits,
		"an edit's e-mails and the edit are one":       editsWhole,
		"edits of one feed do not overwrite another's": editsInTurn,
		"deleting a feed deletes its entities":         deletesFeeds,
		"every change of a feed raises the revision":   raisesRevisions,
	}
}

// fullFeed returns a feed with every stored field set.
func (w *testStore) fullFeed(owner *mapdata.Account) *mapdata.Feed {
	f := w.draft(owner)
	f.Direction, f.Visibility, f.ReviewState, f.ReviewNote = mapdata.Pull, mapdata.Private, mapdata.Rejected, "No, since it is empty."
	f.PullURL, f.PullAuthSealed, f.PullInterval = "https://feeds.example.org/a.json?b=c", []byte{0, 1, 2}, 90*time.Second
	f.Polling = mapdata.Polling{
		NextFetchAt: at(1 * time.Second), LastFetchedAt: at(2 * time.Second), LastOutcome: mapdata.OutcomeTLSError, LastError: "Renew it.",
		LastRows: 3, LastRejected: 4, ConsecutiveFailures: 5, Shrank: true, BodyHash: []byte{6},
	}
	f.Bridge = mapdata.Bridge{
		Format: "geojson", Mapping: `{"id":"«x»"}`, StatusURL: "https://feeds.example.org/status", TimeZone: "Europe/Paris", ChargerNetwork: "none",
	}
	f.Polling.LastSkipped, f.Polling.Skips = 7, []mapdata.Skip{
		{Reason: "no_kind", Items: 7, Words: []mapdata.SkipWord{{Word: "«other»", Items: 6}}, Examples: []string{"a", "b"}},
	}
	f.Polling.Validators = mapdata.Validators{Generation: 3, Documents: []mapdata.Validator{{URL: "u", ETag: `"e"`, LastModified: "yesterday"}}}
	f.Proposed = &mapdata.Words{Name: "Other «name»", Description: "Two\nlines", Attribution: "A", Licence: "L", LayerName: "M", SpecURL: "https://example.org/t"}
	f.LastPushAt, f.SnapshotAt, f.Snapshot, f.EntitiesRevision = at(7*time.Second), at(8*time.Second), 9, 0
	return f
}

func storesFeeds(w *testStore) {
	owner := w.account()
	full, bare := w.fullFeed(owner), w.draft(owner)
	bare.PushTokenHash, bare.Active = []byte("hash"), false
	for _, f := range []*mapdata.Feed{full, bare} {
		given := *f
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		given.ApprovedOnce = given.Approved()
		w.same("feed after CreateFeed", f, &given)
		w.same("feed", w.feed(f), f)
	}
	all := make(map[mapdata.FeedID]mapdata.Feed)
	w.must(w.store.AllFeeds(w.ctx, func(f *mapdata.Feed) { all[f.ID] = *f }))
	w.same("all feeds", all, map[mapdata.FeedID]mapdata.Feed{full.ID: *full, bare.ID: *bare})
}

func makesSlugsUnique(w *testStore) {
	owner := w.account()
	create := func(slug string) string {
		w.Helper()
		f := w.draft(owner)
		f.Layer.Slug = slug
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		if stored := w.feed(f).Layer.Slug; stored != f.Layer.Slug {
			w.Errorf("slug %q is stored as %q", f.Layer.Slug, stored)
		}
		return f.Layer.Slug
	}
	random := make(map[string]bool)
	for _, c := range []struct {
		wish  string
		taken bool
	}{{"police", false}, {"police", true}, {"police-3", false}, {"police", true}, {"police-3", true}, {"policeman", false}, {"polic", false}, {"poli", false}} {
		got := create(c.wish)
		if !c.taken && got != c.wish {
			w.Errorf("slug for %q = %q", c.wish, got)
		}
		if ending := strings.TrimPrefix(got, c.wish); c.taken && !regexp.MustCompile("^-[a-z2-7]{6}$").MatchString(ending) || random[ending] {
			w.Errorf("slug for %q, which is taken = %q, want a random ending (D5.8)", c.wish, got)
		} else if c.taken {
			random[ending] = true
		}
	}
}

func makesSlugsUniqueConcurrently(w *testStore) {
	owner := w.account()
	const many = 8
	stores := [2]Store{w.store, w.another()}
	var all sync.WaitGroup
	slugs := make([]string, many)
	for i := range many {
		f := w.draft(owner)
		f.Layer.Slug = "cameras"
		all.Go(func() {
			if err := stores[i%2].CreateFeed(w.ctx, f, unlimitedFeeds); err != nil {
				w.Errorf("CreateFeed: %v", err)
			}
			slugs[i] = f.Layer.Slug
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	for _, s := range slugs {
		seen[s] = true
	}
	if len(seen) != many || !seen["cameras"] {
		w.Errorf("slugs of feeds created concurrently: %q", slugs)
	}
}

func limitsFeeds(w *testStore) {
	owner, other := w.account(), w.account()
	for range 2 {
		w.must(w.store.CreateFeed(w.ctx, w.draft(owner), 2))
	}
	third := w.draft(owner)
	before := w.state()
	w.fails("third feed of two", w.store.CreateFeed(w.ctx, third, 2), mapdata.ErrConflict)
	w.same("state", w.state(), before)
	w.must(w.store.CreateFeed(w.ctx, w.draft(other), 2))
	w.must(w.store.CreateFeed(w.ctx, third, 3))
}

func refusesUnknownOwner(w *testStore) {
	w.fails("feed of an unknown account", w.store.CreateFeed(w.ctx, w.draft(&mapdata.Account{ID: mapdata.AccountID{1}}), unlimitedFeeds), mapdata.ErrNotFound)
}

func refusesDuplicates(w *testStore) {
	f := w.pushFeed(w.account())
	duplicate := *f
	duplicate.Layer.Slug = "mine"
	w.fails("the same id", w.store.CreateFeed(w.ctx, &duplicate, unlimitedFeeds), mapdata.ErrConflict)
	if duplicate.Layer.Slug != "mine" {
		w.Errorf("slug of a feed that was not stored = %q, want it unchanged", duplicate.Layer.Slug)
	}
}

func findsNoFeed(w *testStore) {
	_, err := w.store.Feed(w.ctx, mapdata.FeedID{1})
	w.fails("Feed", err, mapdata.ErrNotFound)
	_, err = w.store.FeedByPushToken(w.ctx, []byte("x"))
	w.fails("FeedByPushToken", err, mapdata.ErrNotFound)
	_, err = w.store.UpdateFeed(w.ctx, mapdata.FeedID{1}, func(*mapdata.Feed) (mapdata.Side, error) {
		w.Error("edit is called for an unknown feed")
		return mapdata.Side{}, nil
	})
	w.fails("UpdateFeed", err, mapdata.ErrNotFound)
	w.fails("DeleteFeed", w.store.DeleteFeed(w.ctx, mapdata.FeedID{1}, mapdata.AuditEntry{}), mapdata.ErrNotFound)
	if n, err := w.store.CountEntities(w.ctx, mapdata.FeedID{1}, start); n != 0 || err != nil {
		w.Errorf("CountEntities of an unknown feed = %d, %v; want 0", n, err)
	}
}

func findsByToken(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	w.pushFeed(owner)
	w.pullFeed(owner)
	got, err := w.store.FeedByPushToken(w.ctx, f.PushTokenHash)
	w.must(err)
	w.same("feed by token", got, f)
	_, err = w.store.FeedByPushToken(w.ctx, nil)
	w.fails("no token", err, mapdata.ErrNotFound)

	old := f.PushTokenHash
	_, err = w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.PushTokenHash = []byte("rotated")
		return mapdata.Side{}, nil
	})
	w.must(err)
	_, err = w.store.FeedByPushToken(w.ctx, old)
	w.fails("the token before", err, mapdata.ErrNotFound)
	_, err = w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Active = false
		return mapdata.Side{}, nil
	})
	w.must(err)
	_, err = w.store.FeedByPushToken(w.ctx, []byte("rotated"))
	w.fails("a deactivated feed", err, mapdata.ErrNotFound)
}

func listsFeeds(w *testStore) {
	mine, theirs := w.account(), w.account()
	// They are created in the order of their names.
	create := func(owner *mapdata.Account, v mapdata.Visibility, s mapdata.ReviewState, active bool) string {
		f := w.draft(owner)
		f.Visibility, f.ReviewState, f.Active = v, s, active
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		return f.Name
	}
	hidden := create(mine, mapdata.Private, mapdata.Pending, true)
	theirsPublic := create(theirs, mapdata.Public, mapdata.Approved, true)
	served := create(mine, mapdata.Public, mapdata.Approved, true)
	theirsSilent := create(theirs, mapdata.Public, mapdata.Approved, false)
	theirsPrivate := create(theirs, mapdata.Private, mapdata.Approved, true)
	theirsPending := create(theirs, mapdata.Public, mapdata.Pending, true)
	theirsRejected := create(theirs, mapdata.Public, mapdata.Rejected, true)
	for _, c := range []struct {
		name   string
		owner  mapdata.AccountID
		public bool
		want   []string
	}{
		{"mine", mine.ID, false, []string{hidden, served}},
		{"mine and served", mine.ID, true, []string{hidden, theirsPublic, served, theirsSilent}},
		{"served", mapdata.AccountID{}, true, []string{theirsPublic, served, theirsSilent}},
		{"all", mapdata.AccountID{}, false, []string{
			hidden, theirsPublic, served, theirsSilent, theirsPrivate, theirsPending, theirsRejected,
		}},
		{"of an unknown account", mapdata.AccountID{1}, false, nil},
	} {
		feeds, err := w.store.Feeds(w.ctx, c.owner, c.public)
		w.must(err)
		var names []string
		for _, f := range feeds {
			names = append(names, f.Name)
		}
		w.same(c.name, names, c.want)
	}
}

func storesEdits(w *testStore) {
	owner := w.account()
	f := w.fullFeed(owner)
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	want := *f
	got, err := w.store.UpdateFeed(w.ctx, f.ID, func(g *mapdata.Feed) (mapdata.Side, error) {
		w.same("feed before the edit", g, f)
		for _, g := range []*mapdata.Feed{g, &want} {
			g.Name, g.Description, g.Attribution, g.Licence, g.SpecURL, g.Layer.Name = "N", "D", "A", "Town's own <licence>", "https://example.org/s", "L"
			g.Visibility, g.Active, g.ReviewState, g.ReviewNote, g.UpdatedAt = mapdata.Public, false, mapdata.Pending, "", at(time.Hour)
			g.Proposed = nil
			g.PullURL, g.PullAuthSealed, g.PullInterval = "https://feeds.example.org/b.json", nil, time.Hour
			g.Bridge = mapdata.Bridge{Format: "datex2-energy", StatusURL: "https://feeds.example.org/s"}
			g.Polling.NextFetchAt, g.Polling.ConsecutiveFailures = time.Time{}, 0
		}
		want.Generation = 1
		// None of these can be set by an edit.
		g.Polling.LastOutcome, g.Polling.LastError, g.Polling.LastRows, g.Polling.Shrank = mapdata.OutcomeOK, "x", 99, false
		g.Polling.BodyHash, g.Polling.LastFetchedAt, g.Polling.LastRejected = nil, at(time.Hour), 98
		g.Polling.LastSkipped, g.Polling.Skips, g.Polling.Validators = 98, nil, mapdata.Validators{}
		g.LastPushAt, g.SnapshotAt, g.Snapshot, g.EntitiesRevision, g.Generation = at(time.Hour), at(time.Hour), 97, 96, 95
		g.Layer.Slug, g.Layer.ID, g.Direction, g.CreatedAt, g.Owner = "other", "x", mapdata.Push, at(time.Hour), mapdata.AccountID{1}
		return mapdata.Side{}, nil
	})
	w.must(err)
	w.same("feed that UpdateFeed returns", got, &want)
	w.same("feed", w.feed(f), &want)
}

func failsEdits(w *testStore) {
	f := w.pushFeed(w.account())
	before := w.state()
	mine := fmt.Errorf("refused by edit: %w", mapdata.ErrForbidden)
	got, err := w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Name = "changed"
		return mapdata.Side{}, mine
	})
	if err != mine || got != nil { //nolint:errorlint // the same error value
		w.Errorf("UpdateFeed = %v, %v; want nil and edit's error unchanged", got, err)
	}
	w.same("feed", w.feed(f), f)
	w.same("state", w.state(), before)
}

func editsWhole(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	before := w.state()
	edit := func(to mapdata.AccountID) error {
		_, err := w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
			f.ReviewState, f.ReviewNote = mapdata.Rejected, "No."
			return mapdata.Side{
				Audit:  []mapdata.AuditEntry{{At: at(0), Actor: owner.ID, Action: "feed.reject", Subject: f.ID.String(), Note: "No."}},
				Emails: []mapdata.Email{{Account: to, Kind: mapdata.EmailRejected, Data: map[string]string{"note": "No."}, At: at(0)}},
			}, nil
		})
		return err
	}
	w.fails("e-mail to an unknown account", edit(mapdata.AccountID{7}), mapdata.ErrNotFound)
	w.same("feed", w.feed(f), f)
	w.same("state", w.state(), before)
	w.must(edit(owner.ID))
	emails, err := w.store.DueEmails(w.ctx, at(0), at(time.Minute), 10)
	w.must(err)
	if len(emails) != 1 || emails[0].Kind != mapdata.EmailRejected || emails[0].Address != owner.Email {
		w.Errorf("e-mails = %+v, want one to the owner", emails)
	}
}

func editsInTurn(w *testStore) {
	f := w.pushFeed(w.account())
	const each = 10
	stores := [2]Store{w.store, w.another()}
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			for range each {
				_, err := s.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
					f.Polling.ConsecutiveFailures++
					return mapdata.Side{}, nil
				})
				if err != nil {
					w.Errorf("UpdateFeed: %v", err)
				}
			}
		})
	}
	all.Wait()
	if got := w.feed(f).Polling.ConsecutiveFailures; got != 2*each {
		w.Errorf("counted %d of %d edits", got, 2*each)
	}
}

func deletesFeeds(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	w.apply(w.pushed(f, at(0), entity(f, "a", at(0))))
	w.apply(w.pushed(other, at(0), entity(other, "b", at(0))))
	before := w.state().Revision
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0), Actor: owner.ID, Action: "feed.delete"}))
	_, err := w.store.Feed(w.ctx, f.ID)
	w.fails("Feed", err, mapdata.ErrNotFound)
	_, err = w.store.Mark(w.ctx, f.ID)
	w.fails("Mark", err, mapdata.ErrNotFound)
	w.same("entities", w.entities(f), byID())
	w.same("stored", w.stored(f, nil), map[string]mapdata.Stored{})
	w.same("stored by id", w.stored(f, []string{"a"}), map[string]mapdata.Stored{})
	if n, err := w.store.CountEntities(w.ctx, f.ID, at(0)); n != 0 || err != nil {
		w.Errorf("CountEntities = %d, %v; want 0", n, err)
	}
	if attempts, err := attemptsOf(w, w.store, f.ID, time.Time{}); err != nil && !errors.Is(err, mapdata.ErrNotFound) || len(attempts) > 0 {
		w.Errorf("Attempts = %v, %v; want none", attempts, err)
	}
	w.same("entities of the other feed", len(w.entities(other)), 1)
	changes, err := w.store.Changes(w.ctx, before, 100)
	w.must(err)
	if len(changes) != 1 || changes[0].Feed != nil || changes[0].FeedID != f.ID {
		w.Errorf("Changes = %+v, want that the feed is gone", changes)
	}
	// Its slug is free again.
	again := w.draft(owner)
	again.Layer.Slug = f.Layer.Slug
	w.must(w.store.CreateFeed(w.ctx, again, unlimitedFeeds))
	if again.Layer.Slug != f.Layer.Slug {
		w.Errorf("slug = %q, want %q, which is free again", again.Layer.Slug, f.Layer.Slug)
	}
}

func raisesRevisions(w *testStore) {
	owner := w.account()
	last := w.state().Revision
	raised := func(what string) {
		w.Helper()
		if now := w.state().Revision; now <= last {
			w.Errorf("%s: revision %d, want more than %d", what, now, last)
		} else {
			last = now
		}
	}
	f, g := w.pushFeed(owner), w.pullFeed(owner)
	raised("registration")
	_, err := w.store.UpdateFeed(w.ctx, f.ID, func(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{}, nil })
	w.must(err)
	raised("edit")
	w.apply(w.pushed(f, at(0)))
	raised("push without rows")
	w.apply(w.polled(g, at(0), 0))
	raised("empty snapshot")
	w.must(w.store.PollFailed(w.ctx, &mapdata.PollFailed{Feed: g.ID, Active: true, Attempt: mapdata.Attempt{At: at(time.Second)}}))
	raised("failed poll")
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0)}))
	raised("deletion")
}
