package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// claimPage claims the check of an app's page, and returns whether that succeeded, and otherwise when the check is due.
func (w *testStore) claimPage(a *mapdata.App, now, until time.Time) (claimed bool, due time.Time) {
	w.Helper()
	claimed, due, err := w.store.ClaimAppPage(w.ctx, a.ID, 1, now, until)
	w.must(err)
	return claimed, due
}

func claimsAppPages(w *testStore) {
	a := w.createdApp(w.account())
	expect := func(what string, now, until time.Duration, want bool, wantDue time.Time) {
		w.Helper()
		claimed, due := w.claimPage(a, at(now), at(until))
		w.same(what, claimed, want)
		w.same("when it is due after "+what, due, wantDue)
	}
	expect("a claim of a version that waits", 0, time.Hour, false, time.Time{})
	w.approve(a)
	var claims [2]bool
	try := func(i int) func() error {
		return func() (err error) {
			claims[i], _, err = w.store.ClaimAppPage(w.ctx, a.ID, 1, at(0), at(time.Hour))
			return err
		}
	}
	for _, err := range w.concurrently(try(0), try(1)) {
		w.must(err)
	}
	w.same("one of two claims", claims[0] != claims[1], true)
	expect("a claim while another holds", time.Minute, 2*time.Hour, false, at(time.Hour))
	expect("a claim after the holder was silent", time.Hour, 2*time.Hour, true, time.Time{})
	w.must(w.store.RecordAppPage(w.ctx, a.ID, 1, mapdata.AppPage{Digest: "d"}, at(25*time.Hour)))
	expect("a claim before the next check", 24*time.Hour, 48*time.Hour, false, at(25*time.Hour))
	expect("a claim of the next check", 25*time.Hour, 48*time.Hour, true, time.Time{})
}

func recordsAppPages(w *testStore) {
	a := w.approve(w.createdApp(w.account()))
	before, logged := w.appRevision(), w.state().Revision
	record := func(what string, page mapdata.AppPage, changes bool) {
		w.Helper()
		w.must(w.store.RecordAppPage(w.ctx, a.ID, 1, page, at(time.Hour)))
		w.same("page after "+what, w.readApp(a.ID).Versions[0].Page, page)
		w.same(what+" changes the catalogue", w.appRevision() > before, changes)
		w.same(what+" is in the log", w.state().Revision > logged, changes)
		before, logged = w.appRevision(), w.state().Revision
	}
	record("the first look", mapdata.AppPage{Digest: "one"}, true)
	record("the same page", mapdata.AppPage{Digest: "one"}, false)
	record("another page", mapdata.AppPage{Digest: "one", ChangedAt: at(time.Minute)}, true)
	record("the other page again", mapdata.AppPage{Digest: "one", ChangedAt: at(time.Minute)}, false)
	record("the first page again", mapdata.AppPage{Digest: "one"}, true)
	all, _, err := w.store.ServedApps(w.ctx, nil)
	w.must(err)
	w.same("page of a served app", all[0].App.Versions[0].Page, mapdata.AppPage{Digest: "one"})
	w.editApp(a, func(a *mapdata.App) {
		a.Versions[0].State, a.Versions[0].Page = mapdata.AppSuperseded, mapdata.AppPage{Digest: "two", ChangedAt: at(2 * time.Minute)}
	})
	w.must(w.store.RecordAppPage(w.ctx, a.ID, 1, mapdata.AppPage{Digest: "three"}, at(time.Hour)))
	w.same("page of a version that was replaced", w.readApp(a.ID).Versions[0].Page, mapdata.AppPage{Digest: "two", ChangedAt: at(2 * time.Minute)})
}

func logsApps(w *testStore) {
	owner := w.account()
	after := w.state().Revision
	logged := func(what string, want bool) {
		w.Helper()
		before := after
		after = w.state().Revision
		changes, err := w.store.Changes(w.ctx, before, 100)
		w.must(err)
		got := false
		for _, c := range changes {
			if c.Apps {
				w.same("a change of apps", c, mapdata.FeedChange{Revision: c.Revision, Apps: true})
				got = true
			}
		}
		w.same(what+" is in the log", got, want)
	}
	a := w.createdApp(owner)
	logged("a submission", false)
	w.approve(a)
	logged("an approval", true)
	w.must(w.resubmit(a, appLimits(10)))
	logged("a resubmission", false)
	w.editApp(a, func(a *mapdata.App) { a.SuspendedAt = start })
	logged("a suspension", true)
	w.editApp(a, func(a *mapdata.App) { a.SuspendedAt = time.Time{} })
	logged("a resumption", true)
	w.must(w.store.SetPublicName(w.ctx, owner.ID, "Charge & Co"))
	logged("a name of the developer", true)
	w.must(w.store.SuspendAccount(w.ctx, owner.ID, mapdata.Suspension{At: start, Reason: "r"}, mapdata.Side{}))
	logged("a suspension of the developer", true)
	w.must(w.store.ResumeAccount(w.ctx, owner.ID, mapdata.Side{}))
	logged("the end of it", true)
	w.must(w.deleteAccount(owner))
	logged("the end of the account", true)
	other := w.account()
	w.createdApp(other)
	w.must(w.store.SetPublicName(w.ctx, other.ID, "Nobody"))
	logged("a name of somebody of whom nothing is served", false)
}
