package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

func takedownTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a hidden pin is in the log and in tallies":             hidesPins,
		"a hiding outlives snapshots and lives":                 hidesNextLives,
		"a hiding keeps the votes, and nobody votes on it":      hidesVoted,
		"a live incident is hidden":                             hidesLive,
		"a pin that is not stored is not hidden":                hidesNoUnknown,
		"showing ends a hiding once":                            showsPins,
		"a hidden pin is loaded after years":                    loadsHidden,
		"hidden pins are listed, newest first":                  listsHidden,
		"a hiding is stored with its entry and e-mail":          hidesAtomically,
		"a paused feed is neither served, polled nor pushed to": pausesFeeds,
		"a removed feed leaves its e-mail":                      removesFeeds,
		"a suspension ends sessions and pauses feeds":           suspends,
		"a resumed account has its feeds back":                  resumesAccounts,
		"an account complains about a source once":              complains,
		"complaints are bounded and closed once":                boundsComplaints,
		"complaints end with feed and account, and by age":      endsComplaints,
	}
}

func (w *testStore) hidden(f *mapdata.Feed, externalID string, when, until time.Time) *mapdata.PinTakedown {
	return &mapdata.PinTakedown{
		Source: f.ID.SourceID(), ExternalID: externalID, At: when, Hiding: mapdata.Hiding{Until: until, Reason: "It is «wrong»."},
	}
}

func (w *testStore) hide(p *mapdata.PinTakedown) mapdata.Voted {
	w.Helper()
	v, err := w.store.HidePin(w.ctx, p)
	w.must(err)
	return v
}

func hidesPins(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	before := w.state()
	p := w.hidden(f, "a", at(time.Minute), at(time.Hour))
	v := w.hide(p)
	want := mapdata.Tally{
		Source: f.ID.SourceID(), ExternalID: "a", ChangedAt: p.At, LifeAt: start, Hidden: &mapdata.Hiding{Until: at(time.Hour), Reason: p.Reason},
	}
	w.same("what it gives", v.Tally, want)
	w.same("tally", w.tallies(time.Time{})[mapdata.EntityID(want.Source, "a")], want)
	changes := w.changes(before.Revision, 10)
	if len(changes) != 1 || len(changes[0].Tallies) != 1 || len(changes[0].Entities)+len(changes[0].Gone) != 0 {
		w.Fatalf("log: %+v", changes)
	}
	w.same("in the log", changes[0].Tallies[0], want)
	again := w.hidden(f, "a", at(2*time.Minute), mapdata.ForGood())
	again.Reason = "Still wrong."
	w.same("hidden again, until", w.hide(again).Tally.Hidden, &again.Hiding)
	if got := w.entities(f); len(got) != 1 {
		w.Errorf("the entity itself changed: %v", got)
	}
}

func hidesNextLives(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	w.hide(w.hidden(f, "a", at(time.Minute), mapdata.ForGood()))
	for i, when := range []time.Time{at(2 * time.Minute), at(time.Hour)} { // a refresh, and a new life
		w.apply(w.pushed(f, when, shortLived(f, "a", when)))
		v, err := w.store.Voted(w.ctx, f.ID, "a", when)
		w.must(err)
		if v.Tally.HiddenAt(when) == nil {
			w.Errorf("push %d ends the hiding: %+v", i, v.Tally)
		}
	}
}

func hidesVoted(w *testStore) {
	drivers := w.drivers(2)
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.cast(ballot(f, "a", drivers[0], mapdata.Confirm, at(time.Second)))
	w.hide(w.hidden(f, "a", at(time.Minute), at(time.Hour)))
	_, err := w.store.CastVote(w.ctx, ballot(f, "a", drivers[1], mapdata.Confirm, at(2*time.Minute)))
	w.fails("a vote on a hidden pin", err, mapdata.ErrNotFound)
	v := w.cast(ballot(f, "a", drivers[1], mapdata.Confirm, at(time.Hour)))
	if v.Tally.Confirms != 2 || v.Tally.HiddenAt(at(time.Hour)) != nil || v.Tally.Hidden == nil {
		w.Errorf("after it ended: %+v", v.Tally)
	}
	w.same("stored", w.tallies(time.Time{})[mapdata.EntityID(f.ID.SourceID(), "a")], v.Tally)
}

func hidesLive(w *testStore) {
	driver := w.account()
	b := liveBallot("live", driver, mapdata.Confirm, start)
	p := &mapdata.PinTakedown{
		Source: mapdata.Incidents, ExternalID: "live", At: at(time.Second), Live: b.Live, Hiding: mapdata.Hiding{Until: at(time.Hour), Reason: "x"},
	}
	v := w.hide(p)
	want := mapdata.Tally{Source: mapdata.Incidents, ExternalID: "live", Kind: b.Live.Kind, ChangedAt: p.At, Hidden: &p.Hiding}
	w.same("tally", v.Tally, want)
	var all []mapdata.Tally
	w.must(w.store.LiveTallies(w.ctx, b.Live.Kind, start, func(t *mapdata.Tally) { all = append(all, *t) }))
	w.same("read by kind", all, []mapdata.Tally{want})
	_, err := w.store.CastVote(w.ctx, b)
	w.fails("a vote", err, mapdata.ErrNotFound)
}

func hidesNoUnknown(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	for what, p := range map[string]*mapdata.PinTakedown{
		"unknown": w.hidden(f, "b", start, at(time.Hour)), "expired": w.hidden(f, "a", at(11*time.Minute), at(time.Hour)),
		"without a record": {Source: mapdata.Incidents, ExternalID: "x", At: start},
		"no source":        {Source: "moose", ExternalID: "x", At: start},
	} {
		p.Audit = []mapdata.AuditEntry{{At: start, Action: mapdata.AuditPinHide, Subject: "x"}}
		_, err := w.store.HidePin(w.ctx, p)
		w.fails(what, err, mapdata.ErrNotFound)
	}
	if n := len(w.audit(mapdata.AuditQuery{})); n != 0 {
		w.Errorf("%d entries of what was refused", n)
	}
}

func showsPins(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	w.hide(w.hidden(f, "a", at(time.Minute), mapdata.ForGood()))
	before := w.state()
	p := w.hidden(f, "a", at(2*time.Minute), time.Time{})
	w.must(w.store.ShowPin(w.ctx, p))
	t := w.tallies(time.Time{})[mapdata.EntityID(p.Source, "a")]
	if t.HiddenAt(p.At) != nil || !t.Returned(kindOf("alert.construction"), p.At).Equal(p.At) || w.state().Revision != before.Revision+1 {
		w.Errorf("shown at %v: %+v", p.At, t)
	}
	w.fails("shown twice", w.store.ShowPin(w.ctx, p), mapdata.ErrNotFound)
	w.fails("never hidden", w.store.ShowPin(w.ctx, w.hidden(f, "b", p.At, time.Time{})), mapdata.ErrNotFound)
}

func loadsHidden(w *testStore) {
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, entity(f, "good", start), entity(f, "over", start)))
	w.hide(w.hidden(f, "good", start, mapdata.ForGood()))
	w.hide(w.hidden(f, "over", start, at(time.Second)))
	c := w.pushed(f, at(time.Minute))
	c.Retired = []string{"good", "over"}
	w.apply(c)
	got := w.tallies(at(1000 * 24 * time.Hour))
	if _, ok := got[mapdata.EntityID(f.ID.SourceID(), "good")]; !ok {
		w.Errorf("a pin that is hidden for good is not among the tallies since a later time: %v", got)
	}
}

func listsHidden(w *testStore) {
	one, two := w.pushFeed(w.account()), w.pushFeed(w.account())
	var want []mapdata.HiddenPin
	for i, f := range []*mapdata.Feed{one, two, one} {
		id := fmt.Sprint(i)
		w.apply(w.pushed(f, start, entity(f, id, start)))
		p := w.hidden(f, id, at(time.Duration(i)*time.Second), at(time.Hour+time.Duration(i)*time.Hour))
		w.hide(p)
		want = append([]mapdata.HiddenPin{{
			Source: p.Source, ExternalID: id, Kind: kindOf("alert.construction"), HiddenAt: p.At, Hiding: p.Hiding,
		}}, want...)
	}
	list := func(source mapdata.SourceID, when time.Time, limit int) []mapdata.HiddenPin {
		w.Helper()
		all, err := w.store.HiddenPins(w.ctx, source, when, limit)
		w.must(err)
		return all
	}
	w.same("all", list("", at(time.Minute), 10), want)
	w.same("two", list("", at(time.Minute), 2), want[:2])
	w.same("of a source", list(two.ID.SourceID(), at(time.Minute), 10), want[1:2])
	w.same("once two have ended", list("", at(2*time.Hour), 10), want[:1])
}

func hidesAtomically(w *testStore) {
	owner, curator := w.account(), w.account()
	f := w.pushFeed(owner)
	w.apply(w.pushed(f, start, entity(f, "a", start)))
	p := w.hidden(f, "a", start, mapdata.ForGood())
	p.Audit = []mapdata.AuditEntry{{At: start, Actor: curator.ID, Action: mapdata.AuditPinHide, Subject: "id of a", Owner: owner.ID, Note: p.Reason}}
	p.Emails = []mapdata.Email{{Account: owner.ID, Kind: mapdata.EmailPinHidden, At: start, Due: start, Data: map[string]string{"note": p.Reason}}}
	w.hide(p)
	w.same("entries", entries(w.audit(mapdata.AuditQuery{Subject: "id of a"})), p.Audit)
	due, err := w.store.DueEmails(w.ctx, start, at(time.Minute), 10)
	w.must(err)
	if len(due) != 1 || due[0].Kind != mapdata.EmailPinHidden || due[0].Address != owner.Email {
		w.Errorf("e-mails: %+v", due)
	}
}

func pausesFeeds(w *testStore) {
	owner := w.account()
	pull, push := w.pullFeed(owner), w.pushFeed(owner)
	claimed, err := w.store.Claim(w.ctx, "node", start, at(time.Minute), 10)
	w.must(err)
	if len(claimed) != 1 {
		w.Fatalf("claimed %+v", claimed)
	}
	pause := mapdata.Pause{By: mapdata.PausedByCurator, Reason: "It is wrong.", At: at(time.Second)}
	for _, f := range []*mapdata.Feed{pull, push} {
		stored, err := w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
			f.Pause, f.Polling.NextFetchAt = pause, time.Time{}
			return mapdata.Side{}, nil
		})
		w.must(err)
		w.same("pause", stored.Pause, pause)
		if stored.Served() || stored.Listed() || !stored.Active {
			w.Errorf("served or deactivated: %+v", stored)
		}
	}
	late := w.polled(pull, at(2*time.Second), 1, entity(pull, "a", at(2*time.Second)))
	late.Snapshot.Lease = mapdata.Lease{Node: "node", Generation: claimed[0].Generation}
	w.fails("the poll under way", w.store.Apply(w.ctx, late), mapdata.ErrFenced)
	if claimed, err = w.store.Claim(w.ctx, "node", at(time.Hour), at(2*time.Hour), 10); err != nil || len(claimed) != 0 {
		w.Errorf("claimed while it is paused: %+v, %v", claimed, err)
	}
	_, err = w.store.FeedByPushToken(w.ctx, push.PushTokenHash)
	w.fails("a push", err, mapdata.ErrNotFound)
	served, err := w.store.Feeds(w.ctx, w.account().ID, true)
	if err != nil || len(served) != 0 {
		w.Errorf("served: %+v, %v", served, err)
	}
}

func removesFeeds(w *testStore) {
	owner := w.account()
	f := w.pushFeed(owner)
	email := mapdata.Email{Account: owner.ID, Kind: mapdata.EmailFeedRemoved, At: start, Due: start, Data: map[string]string{"note": "x"}}
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start, Action: mapdata.AuditCuratorRemove, Subject: f.ID.String()}, email))
	due, err := w.store.DueEmails(w.ctx, start, at(time.Minute), 10)
	w.must(err)
	if len(due) != 1 || due[0].Kind != email.Kind {
		w.Errorf("e-mails: %+v", due)
	}
}

// suspended creates an account with a session, an API token, a pull feed, a push feed and a feed that a curator paused,
// and suspends it.
func (w *testStore) suspended() (a *mapdata.Account, pull, push, paused *mapdata.Feed) {
	w.Helper()
	a = w.account()
	pull, push, paused = w.pullFeed(a), w.pushFeed(a), w.pushFeed(a)
	_, err := w.store.UpdateFeed(w.ctx, paused.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Pause = mapdata.Pause{By: mapdata.PausedByCurator, Reason: "x", At: start}
		return mapdata.Side{}, nil
	})
	w.must(err)
	w.must(w.store.CreateSession(w.ctx, session(a, "one"), ""))
	w.must(w.store.CreateAPIToken(w.ctx, &mapdata.APIToken{ID: "t", Account: a.ID, TokenHash: []byte("token"), CreatedAt: start}, mapdata.AuditEntry{At: start}, nil))
	s := mapdata.Suspension{At: at(time.Minute), Reason: "Abuse."}
	entry := mapdata.AuditEntry{At: s.At, Action: mapdata.AuditAccountSuspend, Subject: a.ID.String(), Owner: a.ID, Note: s.Reason}
	email := mapdata.Email{Account: a.ID, Kind: mapdata.EmailAccountSuspended, At: s.At, Due: s.At, Data: map[string]string{}}
	w.must(w.store.SuspendAccount(w.ctx, a.ID, s, mapdata.Side{Audit: []mapdata.AuditEntry{entry}, Emails: []mapdata.Email{email}}))
	w.same("entry", entries(w.audit(mapdata.AuditQuery{Subject: a.ID.String()})), []mapdata.AuditEntry{entry})
	a.Suspension = s
	return a, pull, push, paused
}

func suspends(w *testStore) {
	a, pull, push, paused := w.suspended()
	got, err := w.store.Account(w.ctx, a.ID)
	w.must(err)
	w.same("account", got, a)
	_, _, err = w.store.Session(w.ctx, session(a, "one").TokenHash)
	w.fails("session", err, mapdata.ErrNotFound)
	_, _, err = w.store.APIToken(w.ctx, []byte("token"))
	w.fails("API token", err, mapdata.ErrNotFound)
	err = w.store.CreateSession(w.ctx, session(a, "two"), "")
	w.fails("another session", err, mapdata.ErrForbidden)
	var described *mapdata.Described
	if !errors.As(err, &described) || !strings.Contains(described.Detail, "Abuse.") {
		w.Errorf("another session: %v has no words for people", err)
	}
	for _, f := range []*mapdata.Feed{pull, push} {
		stored, err := w.store.Feed(w.ctx, f.ID)
		w.must(err)
		w.same("pause", stored.Pause, mapdata.Pause{By: mapdata.PausedBySuspension, Reason: "Abuse.", At: at(time.Minute)})
		if stored.Served() || stored.Generation != 1 {
			w.Errorf("%+v", stored)
		}
	}
	stored, err := w.store.Feed(w.ctx, paused.ID)
	w.must(err)
	w.same("a pause of before", stored.Pause.By, mapdata.PausedByCurator)
	if claimed, err := w.store.Claim(w.ctx, "node", at(time.Hour), at(2*time.Hour), 10); err != nil || len(claimed) != 0 {
		w.Errorf("polled: %+v, %v", claimed, err)
	}
	_, err = w.store.FeedByPushToken(w.ctx, push.PushTokenHash)
	w.fails("a push", err, mapdata.ErrNotFound)
	w.fails("suspended twice", w.store.SuspendAccount(w.ctx, a.ID, a.Suspension, mapdata.Side{}), mapdata.ErrConflict)
	w.fails("an account that is gone", w.store.SuspendAccount(w.ctx, mapdata.AccountID{9}, a.Suspension, mapdata.Side{}), mapdata.ErrNotFound)
}

func resumesAccounts(w *testStore) {
	a, pull, push, paused := w.suspended()
	before := w.state()
	w.must(w.store.ResumeAccount(w.ctx, a.ID, mapdata.Side{}))
	if got := w.state().Revision; got != before.Revision+3 {
		w.Errorf("%d revisions, want one of the account and of each feed that comes back", got-before.Revision)
	}
	for f, by := range map[*mapdata.Feed]mapdata.PausedBy{pull: "", push: "", paused: mapdata.PausedByCurator} {
		stored, err := w.store.Feed(w.ctx, f.ID)
		w.must(err)
		if stored.Pause.By != by || (f == pull) == stored.Polling.NextFetchAt.IsZero() {
			w.Errorf("%s: %+v", f.Name, stored)
		}
	}
	if _, _, err := w.store.APIToken(w.ctx, []byte("token")); err != nil {
		w.Errorf("API token: %v", err)
	}
	w.must(w.store.CreateSession(w.ctx, session(a, "two"), ""))
	w.fails("resumed twice", w.store.ResumeAccount(w.ctx, a.ID, mapdata.Side{}), mapdata.ErrConflict)
}

func complaint(a *mapdata.Account, source mapdata.SourceID, id string, when time.Time) *mapdata.Complaint {
	return &mapdata.Complaint{ID: id, Source: source, ExternalID: "a", Account: a.ID, Text: "wrong \"é\"", At: when}
}

func (w *testStore) complaints() []mapdata.Complaint {
	w.Helper()
	all, open, err := w.store.Complaints(w.ctx, 100)
	w.must(err)
	if open != len(all) {
		w.Errorf("%d open, %d listed", open, len(all))
	}
	return all
}

func complains(w *testStore) {
	a, b := w.account(), w.account()
	for _, c := range []*mapdata.Complaint{complaint(a, "incidents", "1", start), complaint(b, "incidents", "2", at(time.Second))} {
		w.must(w.store.Complain(w.ctx, c, start.Add(-time.Hour), 1))
	}
	again := complaint(a, "incidents", "3", at(time.Minute))
	again.ExternalID, again.Text = "b", "still"
	w.must(w.store.Complain(w.ctx, again, start.Add(-time.Hour), 1)) // replaces, and does not count
	first, second := *complaint(a, "incidents", "1", start), *complaint(b, "incidents", "2", at(time.Second))
	first.ExternalID, first.Text, first.Email, second.Email = "b", "still", a.Email, b.Email
	w.same("open complaints", w.complaints(), []mapdata.Complaint{first, second})
	w.fails("an account that is gone", w.store.Complain(w.ctx, complaint(&mapdata.Account{ID: mapdata.AccountID{9}}, "x", "4", start), start, 1), mapdata.ErrNotFound)
}

func boundsComplaints(w *testStore) {
	a, curator := w.account(), w.account()
	since := start.Add(-time.Hour)
	for i := range 3 {
		w.must(w.store.Complain(w.ctx, complaint(a, mapdata.SourceID(fmt.Sprint("feed:", i)), fmt.Sprint(i), start), since, 3))
	}
	var limit *mapdata.LimitError
	if err := w.store.Complain(w.ctx, complaint(a, "feed:4", "4", start), since, 3); !errors.As(err, &limit) {
		w.Errorf("beyond the limit: %v", err)
	}
	entry := func(source mapdata.SourceID) mapdata.AuditEntry {
		return mapdata.AuditEntry{At: at(time.Minute), Actor: curator.ID, Action: mapdata.AuditComplaintClose, Subject: string(source), Note: "n"}
	}
	w.must(w.store.CloseComplaint(w.ctx, "1", at(time.Minute), entry))
	w.same("entry", entries(w.audit(mapdata.AuditQuery{})), []mapdata.AuditEntry{entry("feed:1")})
	w.fails("closed twice", w.store.CloseComplaint(w.ctx, "1", at(time.Minute), entry), mapdata.ErrNotFound)
	if n := len(w.complaints()); n != 2 {
		w.Errorf("%d are open", n)
	}
	if err := w.store.Complain(w.ctx, complaint(a, "feed:1", "5", start), since, 3); !errors.As(err, &limit) {
		w.Errorf("a closed one does not count: %v", err)
	}
	w.must(w.store.Complain(w.ctx, complaint(a, "feed:1", "5", at(time.Hour)), start, 3)) // the day after
}

func endsComplaints(w *testStore) {
	a, b, owner := w.account(), w.account(), w.account()
	f := w.pushFeed(owner)
	for i, c := range []*mapdata.Complaint{
		complaint(a, f.ID.SourceID(), "1", start), complaint(a, "incidents", "2", start), complaint(b, "incidents", "3", start),
		complaint(b, "feed:x", "4", at(time.Hour)),
	} {
		w.must(w.store.Complain(w.ctx, c, start.Add(-time.Hour), 10+i))
	}
	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	if n := len(w.complaints()); n != 3 {
		w.Errorf("%d after the feed was deleted", n)
	}
	w.must(w.store.DeleteAccount(w.ctx, a.ID, mapdata.AuditEntry{At: start}))
	if n := len(w.complaints()); n != 2 {
		w.Errorf("%d after an account was deleted", n)
	}
	w.must(w.store.Prune(w.ctx, start.Add(mapdata.ComplaintKept)))
	if all := w.complaints(); len(all) != 1 || all[0].ID != "4" {
		w.Errorf("after pruning: %+v", all)
	}
}
