package storetest

import (
	"context"
	"errors"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// reportStore is the part of a store that only the use case of drivers' reports needs.
type reportStore interface {
	AdmitReport(ctx context.Context, a *mapdata.ReportAttempt) error
	RetractReport(ctx context.Context, externalID string, account mapdata.AccountID) error
}

func reportTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a report comes with its author":            storesReports,
		"an author cannot vote, a stranger neither": bindsVotesOnReports,
		"a report is taken back by its author":      retractsReports,
		"authors are forgotten":                     forgetsAuthors,
		"reports of an account are counted":         countsReports,
		"an account cannot be everywhere":           locatesReports,
	}
}

// driversFeed creates the feed of drivers' reports.
func (w *testStore) driversFeed() *mapdata.Feed {
	w.Helper()
	f := w.draft(&mapdata.Account{ID: mapdata.BuiltinOwner})
	f.ID, f.Direction, f.Layer.Slug = mapdata.DriversID, mapdata.Builtin, string(mapdata.Drivers)
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	return f
}

// report stores a report of a closed road.
func (w *testStore) report(f *mapdata.Feed, externalID string, a *mapdata.Account, when time.Time) {
	w.Helper()
	e := entity(f, externalID, when)
	e.Kind, e.Lifetime = kindOf("alert.road_closed"), 12*time.Hour
	c := w.pushed(f, when, e)
	c.Grows = mapdata.Usage{Entities: 1, Bytes: mapdata.RowBytes(externalID, e.Properties, nil)}
	c.Report = &mapdata.NewReport{ExternalID: externalID, Account: a.ID, TrustAfter: trustAfter, NeedsTwo: true}
	w.apply(c)
}

// tally reads the tally on a report.
func (w *testStore) tally(externalID string, now time.Time) mapdata.Tally {
	w.Helper()
	v, err := w.store.Voted(w.ctx, mapdata.DriversID, externalID, now)
	w.must(err)
	return v.Tally
}

// storesReports checks that author and rule are stored with the entity, that followers get the tally first, and that nothing reveals when
// reports came.
func storesReports(w *testStore) {
	f, known, fresh := w.driversFeed(), w.signedIn(at(-trustAfter)), w.signedIn(start)
	before := w.state().Revision
	w.report(f, "x", known, start)
	w.report(f, "y", fresh, start)
	w.same("by a known account", w.tally("x", start).Report, mapdata.Report{Author: known.ID, AuthorTrusted: true, NeedsTwo: true})
	w.same("by a new account", w.tally("y", start).Report, mapdata.Report{Author: fresh.ID, NeedsTwo: true})
	changes, err := w.store.Changes(w.ctx, before, 1000)
	w.must(err)
	if len(changes) != 4 || len(changes[0].Tallies) != 1 || changes[0].Tallies[0].Author != known.ID || len(changes[1].Entities) != 1 {
		w.Errorf("followers read %+v, want each tally before its entity", changes)
	}
	stored := w.feed(f)
	attempts := 0
	w.must(w.store.RecentAttempts(w.ctx, time.Time{}, func(*mapdata.FeedAttempt) { attempts++ }))
	if !stored.LastPushAt.IsZero() || attempts > 0 {
		w.Errorf("reports are in the timeline: %v, %d attempts", stored.LastPushAt, attempts)
	}
	c := w.pushed(f, at(trustAfter))
	c.Touched, c.Report = []string{"y"}, &mapdata.NewReport{ExternalID: "y", Account: fresh.ID, TrustAfter: trustAfter, NeedsTwo: true}
	w.apply(c)
	if !w.tally("y", at(trustAfter)).AuthorTrusted {
		w.Error("a report that is renewed a day later does not count")
	}
}

// bindsVotesOnReports checks that nobody can vote on their own report, and that on a waiting one only those can vote who reported the same.
func bindsVotesOnReports(w *testStore) {
	f, author, other, fresh := w.driversFeed(), w.person(), w.person(), w.signedIn(start)
	w.report(f, "x", author, start)
	vote := func(a *mapdata.Account, v mapdata.Vote, reported bool) (mapdata.Voted, error) {
		b := weighed(ballot(f, "x", a, v, at(time.Minute)))
		b.Reported = reported
		return w.store.CastVote(w.ctx, b)
	}
	_, err := vote(author, mapdata.Confirm, true)
	w.fails("the author's vote", err, mapdata.ErrForbidden)
	_, err = vote(other, mapdata.Dispute, false)
	w.fails("a stranger's vote", err, mapdata.ErrNotFound)
	v, err := vote(fresh, mapdata.Confirm, true)
	w.must(err)
	if !v.Tally.Waits() || v.Tally.WaitsFor(author.ID) || !v.Tally.WaitsFor(other.ID) || !v.Tally.WaitsFor(mapdata.AccountID{}) {
		w.Errorf("a new account shows it: %+v", v.Tally)
	}
	v, err = vote(other, mapdata.Confirm, true)
	w.must(err)
	if v.Tally.Waits() {
		w.Errorf("two accounts do not show it: %+v", v.Tally)
	}
	v, err = vote(other, mapdata.NoVote, false)
	w.must(err)
	if !v.Tally.Waits() {
		w.Error("it is still shown when a confirm was taken back")
	}
}

// retractsReports checks that a report is removed with its votes, by its author alone.
func retractsReports(w *testStore) {
	reports, ok := w.store.(reportStore)
	if !ok {
		w.Fatal("the store takes no reports")
	}
	f, author, other := w.driversFeed(), w.signedIn(start), w.signedIn(start)
	w.report(f, "x", author, start)
	b := weighed(ballot(f, "x", other, mapdata.Confirm, start))
	b.Reported = true
	w.cast(b)
	w.fails("another account", reports.RetractReport(w.ctx, "x", other.ID), mapdata.ErrNotFound)
	w.fails("a guest", reports.RetractReport(w.ctx, "x", mapdata.AccountID{}), mapdata.ErrNotFound)
	w.must(reports.RetractReport(w.ctx, "x", author.ID))
	w.fails("again", reports.RetractReport(w.ctx, "x", author.ID), mapdata.ErrNotFound)
	w.same("entities", w.entities(f), byID())
	w.same("what the feed holds", w.feed(f).Holds, mapdata.Usage{})
	w.wantVote("the vote on it", mapdata.Drivers, "x", other, mapdata.NoVote)
}

// forgetsAuthors checks that the pin stays without its author when the account is deleted, and after 30 days.
func forgetsAuthors(w *testStore) {
	f, gone, old := w.driversFeed(), w.signedIn(at(-trustAfter)), w.signedIn(at(-trustAfter))
	w.report(f, "x", gone, start)
	w.report(f, "y", old, start)
	own, err := w.store.OwnReports(w.ctx, gone.ID)
	w.must(err)
	if len(own) != 1 || own[0].ExternalID != "x" || own[0].Kind != kindOf("alert.road_closed") || !own[0].At.Equal(start) {
		w.Errorf("the export has %+v", own)
	}
	before := w.state().Revision
	w.must(w.deleteAccount(gone))
	w.same("after the account was deleted", w.tally("x", start).Report, mapdata.Report{AuthorTrusted: true, NeedsTwo: true})
	changes, err := w.store.Changes(w.ctx, before, 1000)
	w.must(err)
	told := false
	for _, c := range changes {
		told = told || len(c.Tallies) == 1 && c.Tallies[0].ExternalID == "x" && c.Tallies[0].Author.IsZero()
	}
	if !told {
		w.Errorf("followers are not told: %+v", changes)
	}
	const month = 30 * 24 * time.Hour
	w.must(w.store.Prune(w.ctx, at(month-time.Second)))
	if w.tally("y", start).Author != old.ID {
		w.Error("the author is forgotten too early")
	}
	w.must(w.store.Prune(w.ctx, at(month)))
	if !w.tally("y", start).Author.IsZero() {
		w.Error("the author is known after 30 days")
	}
}

// admit counts a report the given number of metres north of the equator.
func (w *testStore) admit(a *mapdata.Account, when time.Time, metres float64) error {
	reports, ok := w.store.(reportStore)
	if !ok {
		w.Fatal("the store takes no reports")
	}
	return reports.AdmitReport(w.ctx, &mapdata.ReportAttempt{Account: a.ID, Point: geo.Point{Lat: metres / 111_195}, At: when, PerDay: 12})
}

// countsReports checks the limits: ten in the 24 hours after the first sign-in, then the configured number in any 24 hours.
func countsReports(w *testStore) {
	a, other := w.signedIn(start), w.signedIn(start)
	limited := func(what string, err error, again time.Duration) {
		w.Helper()
		var limit *mapdata.LimitError
		if !errors.As(err, &limit) || limit.RetryAfter != again {
			w.Errorf("%s: %v", what, err)
		}
	}
	for i := range 10 {
		w.must(w.admit(a, at(time.Duration(i)*time.Hour), 0))
	}
	limited("the eleventh on the first day", w.admit(a, at(11*time.Hour), 0), 13*time.Hour)
	limited("the eleventh at the end of the first day", w.admit(a, at(24*time.Hour-time.Second), 0), time.Second)
	w.must(w.admit(other, at(11*time.Hour), 0))
	w.must(w.admit(a, at(24*time.Hour), 0))
	for range 2 {
		w.must(w.admit(a, at(24*time.Hour), 0))
	}
	limited("the thirteenth in a day", w.admit(a, at(24*time.Hour), 0), time.Hour)
	w.must(w.admit(a, at(25*time.Hour), 0))
}

// locatesReports checks the reach since the last report, 2 km and the distance at 300 km/h, and that the last place is deleted once the
// reach is the whole globe.
func locatesReports(w *testStore) {
	a := w.signedIn(at(-100 * 24 * time.Hour))
	refused := func(what string, err error) {
		w.Helper()
		var invalid *mapdata.InvalidError
		if !errors.As(err, &invalid) || invalid.Fields[0].Code != "implausible" {
			w.Errorf("%s: %v", what, err)
		}
	}
	w.must(w.admit(a, start, 0))
	w.must(w.admit(a, start, 1_999))
	refused("4 km further at the same moment", w.admit(a, start, 6_010))
	w.must(w.admit(a, at(time.Minute), 1_999+2_000+4_990))
	refused("more than a minute at 300 km/h and 2 km", w.admit(a, at(2*time.Minute), 1_999+2_000+4_990+7_010))
	reports, ok := w.store.(reportStore)
	if !ok {
		w.Fatal("the store admits no reports")
	}
	late := func(seen time.Duration, metres float64) error {
		return reports.AdmitReport(w.ctx, &mapdata.ReportAttempt{
			Account: a.ID, Point: geo.Point{Lat: metres / 111_195}, At: at(time.Minute), SeenAt: at(seen), PerDay: 12,
		})
	}
	w.must(late(-8*time.Minute, 40_000)) // nine minutes before the last one, and 31 km away from it
	refused("at the place of one that waited", w.admit(a, at(time.Minute), 40_000))
	refused("one that waited, too far away", late(-8*time.Minute, 60_000))
	refused("with a clock that was set back", w.admit(a, start, 20_000))
	w.must(w.store.Prune(w.ctx, at(time.Minute+mapdata.ReportPlaceKept-time.Second)))
	refused("before the place is forgotten", w.admit(a, at(2*time.Minute), 9_000_000))
	w.must(w.store.Prune(w.ctx, at(time.Minute+mapdata.ReportPlaceKept)))
	w.must(w.admit(a, at(2*time.Minute), 9_000_000))
}
