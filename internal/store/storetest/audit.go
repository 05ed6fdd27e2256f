package storetest

import (
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

func auditTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an entry is read as it was written":              readsAudit,
		"entries are selected, newest first":              selectsAudit,
		"an entry is stored atomically with its change":   auditsAtomically,
		"entries have current addresses and names":        readsCurrentNames,
		"deleting a feed deletes the texts it had":        deletesReviewed,
		"deleting an account deletes its notes":           deletesNotes,
		"the log is pruned":                               prunesAudit,
		"an entry is stored without a change":             addsAudit,
		"pending feeds are listed, longest waiting first": listsPending,
	}
}

// addsAudit checks entries about actions outside of the store.
func addsAudit(w *testStore) {
	by := w.account()
	entries := []mapdata.AuditEntry{
		{At: start, Actor: by.ID, Via: mapdata.ViaPage, Action: mapdata.AuditRegionImport, Note: "town.osm.pbf"},
		{At: at(time.Second), Actor: by.ID, Via: mapdata.ViaAPI, Action: mapdata.AuditRegionRemove, Subject: "0123456789abcdef"},
	}
	revision := w.state().Revision
	w.must(w.store.AddAudit(w.ctx, entries...))
	got := w.audit(mapdata.AuditQuery{Limit: 10})
	if len(got) != len(entries) || w.state().Revision != revision {
		w.Fatalf("the log has %+v", got)
	}
	for i := range entries {
		w.same("entry", got[len(got)-1-i].AuditEntry, entries[i])
	}
}

func (w *testStore) audit(q mapdata.AuditQuery) []mapdata.AuditRecord {
	w.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	all, err := w.store.Audit(w.ctx, &q)
	w.must(err)
	return all
}

// entries returns the entries without the fields that the store sets.
func entries(records []mapdata.AuditRecord) []mapdata.AuditEntry {
	var all []mapdata.AuditEntry
	for _, r := range records {
		all = append(all, r.AuditEntry)
	}
	return all
}

// wrote stores entries with an edit of a feed.
func (w *testStore) wrote(f *mapdata.Feed, all ...mapdata.AuditEntry) {
	w.Helper()
	_, err := w.store.UpdateFeed(w.ctx, f.ID, func(*mapdata.Feed) (mapdata.Side, error) { return mapdata.Side{Audit: all}, nil })
	w.must(err)
}

func readsAudit(w *testStore) {
	owner, curator := w.account(), w.account()
	f := w.fullFeed(owner)
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	reviewed := f.Reviewed()
	reviewed.Description = "a\n\"é\" <b>"
	whole := mapdata.AuditEntry{
		At: at(time.Millisecond), Actor: curator.ID, Via: mapdata.ViaPage, Action: mapdata.AuditFeedApprove, Subject: f.ID.String(), Owner: owner.ID,
		Note: "'; --\n\"é\" \u202e", Reviewed: &reviewed,
	}
	bare := mapdata.AuditEntry{At: at(time.Second), Via: mapdata.ViaService, Action: mapdata.AuditFeedDeactivate, Subject: f.ID.String()}
	w.wrote(f, whole, bare)
	w.same("entries", entries(w.audit(mapdata.AuditQuery{})), []mapdata.AuditEntry{bare, whole})
	failed := failedPoll(f, at(time.Minute))
	failed.Audit = []mapdata.AuditEntry{bare}
	w.must(w.store.PollFailed(w.ctx, failed))
	w.same("entry with a failed poll", entries(w.audit(mapdata.AuditQuery{Limit: 1})), []mapdata.AuditEntry{bare})
}

func selectsAudit(w *testStore) {
	a, b := w.account(), w.account()
	f, g := w.pushFeed(a), w.pushFeed(b)
	w.wrote(f, mapdata.AuditEntry{At: at(0), Actor: a.ID, Action: "one", Subject: f.ID.String(), Owner: a.ID})
	w.wrote(g, mapdata.AuditEntry{At: at(0), Actor: a.ID, Action: "two", Subject: g.ID.String(), Owner: b.ID})
	w.wrote(g, mapdata.AuditEntry{At: at(0), Action: "three", Subject: a.ID.String()})
	w.wrote(g, mapdata.AuditEntry{At: at(0), Action: "four", Subject: "no id' OR TRUE --"})
	actions := func(q mapdata.AuditQuery) (all []string) {
		for _, e := range w.audit(q) {
			all = append(all, e.Action)
		}
		return all
	}
	w.same("all", actions(mapdata.AuditQuery{}), []string{"four", "three", "two", "one"})
	w.same("at most two", actions(mapdata.AuditQuery{Limit: 2}), []string{"four", "three"})
	second := w.audit(mapdata.AuditQuery{})[1]
	w.same("before one", actions(mapdata.AuditQuery{Before: second.ID}), []string{"two", "one"})
	w.same("of actions", actions(mapdata.AuditQuery{Actions: []string{"one", "four", "none"}}), []string{"four", "one"})
	w.same("of no action", len(actions(mapdata.AuditQuery{Actions: []string{}})), 0)
	w.same("of a feed", actions(mapdata.AuditQuery{Subject: g.ID.String()}), []string{"two"})
	w.same("by, of and about an account", actions(mapdata.AuditQuery{Account: a.ID}), []string{"three", "two", "one"})
	w.same("of another's", actions(mapdata.AuditQuery{Account: b.ID}), []string{"two"})
	w.same("of both", actions(mapdata.AuditQuery{Account: b.ID, Subject: f.ID.String()}), []string(nil))
}

func auditsAtomically(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	mine := mapdata.ErrForbidden
	_, err := w.store.UpdateFeed(w.ctx, f.ID, func(*mapdata.Feed) (mapdata.Side, error) {
		return mapdata.Side{Audit: []mapdata.AuditEntry{{At: at(0), Action: "refused"}}}, mine
	})
	w.fails("UpdateFeed", err, mine)
	_, err = w.store.UpdateFeed(w.ctx, f.ID, func(*mapdata.Feed) (mapdata.Side, error) {
		return mapdata.Side{
			Audit:  []mapdata.AuditEntry{{At: at(0), Action: "with an e-mail to an unknown account"}},
			Emails: []mapdata.Email{{Account: mapdata.AccountID{7}, Kind: mapdata.EmailRejected, At: at(0)}},
		}, nil
	})
	w.fails("UpdateFeed", err, mapdata.ErrNotFound)
	w.fails("CreateFeed", w.store.CreateFeed(w.ctx, w.draft(owner), 1, mapdata.AuditEntry{At: at(0), Action: "too many"}), mapdata.ErrConflict)
	w.fails("DeleteFeed", w.store.DeleteFeed(w.ctx, mapdata.FeedID{1}, mapdata.AuditEntry{At: at(0), Action: "of none"}), mapdata.ErrNotFound)
	failed := failedPoll(&mapdata.Feed{ID: mapdata.FeedID{1}}, at(0))
	failed.Audit = []mapdata.AuditEntry{{At: at(0), Action: "of a feed that is gone"}}
	w.must(w.store.PollFailed(w.ctx, failed))
	w.same("entries", len(w.audit(mapdata.AuditQuery{})), 0)
}

func readsCurrentNames(w *testStore) {
	a, b := w.account(), w.account()
	f := w.pushFeed(a)
	w.wrote(f, mapdata.AuditEntry{At: at(0), Actor: a.ID, Subject: f.ID.String()}, mapdata.AuditEntry{At: at(0), Subject: b.ID.String()},
		mapdata.AuditEntry{At: at(0), Actor: mapdata.AccountID{9}, Subject: "token"})
	names := func() (all []string) {
		for _, r := range w.audit(mapdata.AuditQuery{}) {
			all = append(all, r.ActorEmail+" "+r.Named)
		}
		return all
	}
	w.same("names", names(), []string{" ", " " + b.Email, a.Email + " " + f.Name})
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0)}))
	w.same("names", names()[1:], []string{" ", " " + b.Email, a.Email + " "})
}

func deletesReviewed(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	for _, f := range []*mapdata.Feed{f, other} {
		reviewed := f.Reviewed()
		w.wrote(f, mapdata.AuditEntry{At: at(0), Action: mapdata.AuditFeedApprove, Subject: f.ID.String(), Reviewed: &reviewed})
	}
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(0), Action: mapdata.AuditFeedDelete, Subject: f.ID.String()}))
	gone := w.audit(mapdata.AuditQuery{Subject: f.ID.String()})
	if len(gone) != 2 || gone[1].Reviewed != nil {
		w.Errorf("entries of the deleted feed: %+v", gone)
	}
	if left := w.audit(mapdata.AuditQuery{Subject: other.ID.String()}); len(left) != 1 || left[0].Reviewed == nil {
		w.Errorf("entries of another feed: %+v", left)
	}
}

func deletesNotes(w *testStore) {
	a, b := w.account(), w.account()
	f, other := w.pushFeed(a), w.pushFeed(b)
	reviewed := f.Reviewed()
	w.wrote(f, mapdata.AuditEntry{At: at(0), Actor: b.ID, Action: "one", Subject: f.ID.String(), Owner: a.ID, Note: "of theirs", Reviewed: &reviewed})
	w.wrote(other, mapdata.AuditEntry{At: at(0), Actor: a.ID, Action: "two", Subject: other.ID.String(), Owner: b.ID, Note: "of another's"})
	w.must(w.store.DeleteAccount(w.ctx, a.ID, mapdata.AuditEntry{At: at(time.Second), Actor: a.ID, Action: mapdata.AuditAccountDelete, Subject: a.ID.String()}))
	all := w.audit(mapdata.AuditQuery{})
	if len(all) != 3 || all[1].Note != "of another's" || all[2].Note != "" || all[2].Reviewed != nil || all[1].ActorEmail != "" || all[1].Actor != a.ID {
		w.Errorf("entries %+v", all)
	}
}

func prunesAudit(w *testStore) {
	f := w.pushFeed(w.account())
	reviewed := f.Reviewed()
	w.wrote(f, mapdata.AuditEntry{At: at(0), Action: "old"}, mapdata.AuditEntry{At: at(time.Second), Action: "younger"},
		mapdata.AuditEntry{At: at(0), Action: mapdata.AuditFeedApprove, Subject: f.ID.String(), Reviewed: &reviewed})
	left := func() (all []string) {
		for _, r := range w.audit(mapdata.AuditQuery{}) {
			all = append(all, r.Action)
		}
		return all
	}
	w.must(w.store.Prune(w.ctx, at(mapdata.AuditKept)))
	w.same("left", left(), []string{mapdata.AuditFeedApprove, "younger"})
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: at(time.Hour), Action: mapdata.AuditFeedDelete}))
	w.must(w.store.Prune(w.ctx, at(mapdata.AuditKept+time.Second)))
	w.same("left once the feed is gone", left(), []string{mapdata.AuditFeedDelete})
}

func listsPending(w *testStore) {
	owner := w.account()
	made := func(age time.Duration, state mapdata.ReviewState) *mapdata.Feed {
		f := w.draft(owner)
		f.CreatedAt, f.UpdatedAt, f.ReviewState = at(age), at(age), state
		w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
		return f
	}
	again, second, first := made(0, mapdata.Pending), made(2*time.Hour, mapdata.Pending), made(time.Hour, mapdata.Pending)
	made(0, mapdata.Approved)
	made(0, mapdata.Rejected)
	proposes := made(5*time.Hour, mapdata.Approved) // words that wait (D5.5)
	_, err := w.store.UpdateFeed(w.ctx, proposes.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Proposed = &mapdata.Words{Name: "N"}
		return mapdata.Side{}, nil
	})
	w.must(err)
	w.wrote(again, mapdata.AuditEntry{At: at(3 * time.Hour), Action: mapdata.AuditFeedReviewAgain, Subject: again.ID.String()},
		mapdata.AuditEntry{At: at(4 * time.Hour), Action: mapdata.AuditFeedEdit, Subject: again.ID.String()})
	all, err := w.store.PendingFeeds(w.ctx)
	w.must(err)
	want := []mapdata.FeedID{first.ID, second.ID, again.ID, proposes.ID}
	since := []time.Time{at(time.Hour), at(2 * time.Hour), at(3 * time.Hour), at(5 * time.Hour)}
	if len(all) != len(want) {
		w.Fatalf("%d feeds are pending, want %d", len(all), len(want))
	}
	for i := range all {
		if all[i].ID != want[i] || !all[i].Since.Equal(since[i]) || all[i].OwnerEmail != owner.Email {
			w.Errorf("%d: %v of %s since %v, want %v since %v", i, all[i].ID, all[i].OwnerEmail, all[i].Since, want[i], since[i])
		}
	}
	if !slices.ContainsFunc(all, func(p mapdata.PendingFeed) bool { return p.Feed.Name == first.Name }) {
		w.Errorf("the feeds' own fields are missing: %+v", all)
	}
}
