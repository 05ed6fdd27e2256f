package storetest

import (
	"fmt"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func actTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a vote from afar is kept and does not count":              weighsVotesByPlace,
		"accounts that have done nothing else count as one":        countsNewcomersOnce,
		"accounts that act together count as one":                  countsCouplesOnce,
		"accounts with three days of their own count":              countsPeople,
		"a busy day hides no earlier ones":                         keepsDays,
		"only the newest acts are compared":                        comparesNewestActs,
		"only the newest like voters are compared":                 comparesNewestVoters,
		"an author is compared with who confirms":                  comparesAuthors,
		"an account that votes cannot be everywhere":               locatesVoters,
		"accounts are not compared where all count from the start": comparesNobody,
	}
}

const day = 24 * time.Hour

// person creates an account that first signed in a month ago and voted by itself on each of three days.
func (w *testStore) person() *mapdata.Account {
	w.Helper()
	a := w.signedIn(at(-30 * day))
	for i := range 3 {
		w.cast(weighed(liveBallot(fmt.Sprintf("%d by %s", i, a.Email), a, mapdata.Confirm, at(time.Duration(i-5)*day))))
	}
	return a
}

// counts casts an account's vote on a live incident again, and reports whether the vote counts.
func (w *testStore) counts(externalID string, a *mapdata.Account, v mapdata.Vote, when time.Time) bool {
	w.Helper()
	before := w.cast(weighed(liveBallot(externalID, a, mapdata.NoVote, when))).Tally
	after := w.cast(weighed(liveBallot(externalID, a, v, when))).Tally
	w.wantVote("the vote itself", mapdata.Incidents, externalID, a, v)
	if after.Confirms+after.Disputes != before.Confirms+before.Disputes+1 {
		w.Errorf("a vote of %s is not in the tally: %+v", a.Email, after)
	}
	return after.UntrustedConfirms+after.UntrustedDisputes == before.UntrustedConfirms+before.UntrustedDisputes
}

func (w *testStore) wantCounts(what string, got, want bool) {
	w.Helper()
	if got != want {
		w.Errorf("%s: it counts is %v, want %v", what, got, want)
	}
}

// weighsVotesByPlace checks that the vote of an account that is not near stands, and counts neither for hiding nor against it, until the
// account votes again when it is near.
func weighsVotesByPlace(w *testStore) {
	a := w.person()
	f := w.pushFeed(w.account())
	w.apply(w.pushed(f, start, shortLived(f, "a", start)))
	for i, near := range []bool{false, true, false} {
		for _, after := range []time.Duration{0, trustAfter} { // also where every account counts
			b := ballot(f, "a", a, mapdata.Dispute, at(time.Duration(i)*time.Minute))
			b.TrustAfter = after
			b.Near = func(e *mapdata.Entity) bool { return near && e.ExternalID == "a" }
			got := w.cast(b).Tally
			want := [4]int{0, 0, 1, 1}
			if near {
				want[3] = 0
			}
			w.same("counts", untrustedCounts(&got), want)
			w.wantVote("the vote itself", f.ID.SourceID(), "a", a, mapdata.Dispute)
		}
	}
}

// countsNewcomersOnce checks that of three accounts with their first act the first one counts, on each of five days, and that an account
// that votes the opposite is not a second account of any of them.
func countsNewcomersOnce(w *testStore) {
	mailboxes := []*mapdata.Account{w.signedIn(at(-30 * day)), w.signedIn(at(-30 * day)), w.signedIn(at(-30 * day))}
	for i := range 5 {
		for j, a := range mailboxes {
			id := fmt.Sprint("road ", i)
			w.wantCounts(fmt.Sprint(id, " by account ", j), w.counts(id, a, mapdata.Dispute, at(time.Duration(i)*day+time.Duration(j)*time.Hour)), j == 0)
		}
	}
	w.wantCounts("the opposite", w.counts("road 0", w.signedIn(at(-30*day)), mapdata.Confirm, at(6*day)), true)
	known := w.person()
	w.counts("a newcomer beside a known account", known, mapdata.Dispute, at(6*day))
	w.wantCounts("a newcomer", w.counts("a newcomer beside a known account", w.signedIn(at(-30*day)), mapdata.Dispute, at(6*day)), false)
	other := w.person()
	newcomer := w.signedIn(at(-30 * day))
	counted := func(what string, by *mapdata.Account, want [4]int) {
		w.Helper()
		got := w.cast(weighed(liveBallot("a known account after a newcomer", by, mapdata.Dispute, at(7*day)))).Tally
		w.same(what, untrustedCounts(&got), want)
		w.same(what+", as stored", w.tallies(time.Time{})[mapdata.EntityID(mapdata.Incidents, "a known account after a newcomer")], got)
	}
	counted("a newcomer", newcomer, [4]int{0, 0, 1, 0})
	counted("then a known account, which counts instead", other, [4]int{0, 0, 2, 1})
	counted("and another one", known, [4]int{0, 0, 3, 1})
	counted("the newcomer again", newcomer, [4]int{0, 0, 3, 1})
}

// countsCouplesOnce checks that two accounts with three days of their own each, and with four fifths of their acts in common, count as one.
func countsCouplesOnce(w *testStore) {
	a, b := w.person(), w.person()
	for i := range 12 { // of 15 acts each
		id := fmt.Sprint("shared ", i)
		w.counts(id, a, mapdata.Confirm, at(time.Duration(i)*time.Minute))
		if i == 11 {
			w.wantCounts("with eleven of fourteen acts shared", w.counts(id, b, mapdata.Confirm, at(time.Hour)), true)
			break
		}
		w.counts(id, b, mapdata.Confirm, at(time.Duration(i)*time.Minute))
	}
	w.counts("next", a, mapdata.Confirm, at(2*time.Hour))
	w.wantCounts("with twelve of fifteen acts shared", w.counts("next", b, mapdata.Confirm, at(2*time.Hour)), false)
	w.counts("own", b, mapdata.Confirm, at(3*time.Hour))
	w.wantCounts("when one of the two has another one of its own", w.counts("next", b, mapdata.Confirm, at(3*time.Hour)), false)
	w.counts("own too", a, mapdata.Confirm, at(3*time.Hour))
	w.wantCounts("when both have", w.counts("next", b, mapdata.Confirm, at(4*time.Hour)), true)
}

// countsPeople checks that each account needs acts on three days, and three without the other account, and that only counted acts matter.
func countsPeople(w *testStore) {
	for name, c := range map[string]struct {
		days   []time.Duration // when the second account acted
		first  time.Duration   // its first sign-in
		counts bool
	}{
		"three days":                         {[]time.Duration{-3 * day, -2 * day, -day}, -30 * day, true},
		"two acts":                           {[]time.Duration{-2 * day, -day}, -30 * day, false},
		"two days":                           {[]time.Duration{-2 * day, -2*day + time.Hour, -day, -day + time.Hour}, -30 * day, false},
		"an afternoon":                       {[]time.Duration{-4 * time.Hour, -3 * time.Hour, -2 * time.Hour, -time.Hour}, -30 * day, false},
		"two days of which one was too soon": {[]time.Duration{-3 * day, -2 * day, -day}, -3*day - time.Hour, false},
	} {
		a, b := w.person(), w.signedIn(at(c.first))
		for i, when := range c.days {
			w.cast(weighed(liveBallot(fmt.Sprint(name, i), b, mapdata.Dispute, at(when))))
		}
		w.counts(name, a, mapdata.Dispute, start)
		w.wantCounts(name, w.counts(name, b, mapdata.Dispute, start), c.counts)
	}
}

// keepsDays checks that a day with many votes of an account does not hide earlier days.
func keepsDays(w *testStore) {
	a, b := w.person(), w.person()
	for i := range 25 {
		w.counts(fmt.Sprint("busy ", i), a, mapdata.Confirm, at(time.Duration(i-30)*time.Minute))
	}
	w.counts("next", a, mapdata.Confirm, start)
	w.wantCounts("the second account", w.counts("next", b, mapdata.Confirm, start), true)
}

// shares casts the same twenty votes by two accounts.
func (w *testStore) shares(name string, a, b *mapdata.Account) {
	w.Helper()
	for i := range 20 {
		for j, by := range []*mapdata.Account{a, b} {
			v := []mapdata.Vote{mapdata.Confirm, mapdata.Dispute}[(i+j)%2] // not the same, so that both count
			w.wantCounts("a shared act", w.counts(fmt.Sprint(name, i), by, v, at(time.Duration(i-30)*time.Minute)), true)
		}
	}
}

// comparesNewestActs checks that earlier acts do not help an account whose newest twenty acts are all shared.
func comparesNewestActs(w *testStore) {
	a, b := w.person(), w.person()
	for i := range 30 {
		for _, by := range []*mapdata.Account{a, b} {
			w.counts(fmt.Sprint(i, " of ", by.Email), by, mapdata.Confirm, at(time.Duration(i-40)*time.Hour))
		}
	}
	w.shares("shared", a, b)
	w.counts("next", a, mapdata.Confirm, start)
	w.wantCounts("after twenty acts together", w.counts("next", b, mapdata.Confirm, start), false)
}

// comparesNewestVoters checks that an account is compared with the ten newest voters whose same vote counts, so that a vote costs no more
// where thousands voted.
func comparesNewestVoters(w *testStore) {
	a, b := w.person(), w.person()
	w.shares("shared", a, b)
	w.wantCounts("the first voter", w.counts("crowd", a, mapdata.Confirm, start), true)
	for i := range 10 {
		if i == 9 {
			w.wantCounts("the first voter's other account, after nine", w.counts("crowd", b, mapdata.Confirm, at(time.Minute)), false)
		}
		w.wantCounts(fmt.Sprint("voter ", i), w.counts("crowd", w.person(), mapdata.Confirm, at(time.Minute)), true)
	}
	w.wantCounts("the first voter's other account, after ten", w.counts("crowd", b, mapdata.Confirm, at(2*time.Minute)), true)
}

// comparesAuthors checks that the second account that supports a report must belong to another person than its author, whichever of the two
// is first, and when the author reports again.
func comparesAuthors(w *testStore) {
	f, author := w.driversFeed(), w.signedIn(at(-30*day))
	confirm := func(id string, a *mapdata.Account) bool {
		b := weighed(ballot(f, id, a, mapdata.Confirm, at(time.Minute)))
		b.Reported = true
		v := w.cast(b)
		return !v.Tally.Waits()
	}
	w.report(f, "x", author, start)
	w.wantCounts("by the author's other mailbox", confirm("x", w.signedIn(at(-30*day))), false)
	w.wantCounts("by a third one", confirm("x", w.signedIn(at(-30*day))), false)
	w.wantCounts("by somebody else, of a newcomer's report", confirm("x", w.person()), false)
	if t := w.tally("x", at(time.Minute)); t.AuthorTrusted || t.Confirms != 3 || t.UntrustedConfirms != 2 {
		w.Errorf("the known account does not count instead of the newcomer: %+v", t)
	}
	w.wantCounts("by one more", confirm("x", w.person()), true)
	w.report(f, "y", w.person(), start)
	w.wantCounts("by somebody else", confirm("y", w.person()), true)

	fresh, mailbox := w.signedIn(start), w.signedIn(at(-30*day))
	w.report(f, "z", fresh, start)
	w.wantCounts("of a report that does not count", confirm("z", mailbox), false)
	known := w.person()
	w.report(f, "v", known, start)
	b := weighed(ballot(f, "v", w.signedIn(at(-30*day)), mapdata.Confirm, at(time.Minute)))
	b.Reported = true
	w.cast(b)
	again := w.pushed(f, at(2*time.Minute))
	again.Touched, again.Report = []string{"v"}, &mapdata.NewReport{ExternalID: "v", Account: known.ID, TrustAfter: trustAfter, NeedsTwo: true}
	w.apply(again)
	if t := w.tally("v", at(2*time.Minute)); !t.AuthorTrusted || t.UntrustedConfirms != 1 || !t.Waits() {
		w.Errorf("a known author who reports again: %+v", t)
	}
	renewed := w.pushed(f, at(trustAfter))
	renewed.Touched, renewed.Report = []string{"z"}, &mapdata.NewReport{ExternalID: "z", Account: fresh.ID, TrustAfter: trustAfter, NeedsTwo: true}
	w.apply(renewed)
	if t := w.tally("z", at(trustAfter)); t.AuthorTrusted || !t.Waits() {
		w.Errorf("the author counts beside their own other mailbox: %+v", t)
	}
}

// locatesVoters checks that a vote counts where the account can have travelled at 300 km/h since its last counted act, with the 5 km that
// the driver may be away from each of the two entities.
func locatesVoters(w *testStore) {
	a := w.signedIn(at(-30 * day))
	vote := func(id string, metres float64, when time.Time) bool {
		b := weighed(liveBallot(id, a, mapdata.Dispute, when))
		b.Live.Point = geo.Point{Lat: metres / 111_195}
		t := w.cast(b).Tally
		return t.UntrustedDisputes == 0
	}
	w.wantCounts("the first", vote("a", 0, start), true)
	w.wantCounts("60 km in ten minutes", vote("b", 59_900, at(10*time.Minute)), true)
	w.wantCounts("61 km in ten minutes", vote("c", 59_900+61_000, at(20*time.Minute)), false)
	w.wantCounts("half an hour after the one that counted", vote("d", 59_900+159_000, at(40*time.Minute)), true)
}

// comparesNobody checks that accounts are not compared where the operator lets them count from their first sign-in.
func comparesNobody(w *testStore) {
	for i, a := range w.drivers(3) {
		w.same("a vote", w.cast(liveBallot("a", a, mapdata.Dispute, at(time.Duration(i)*time.Minute))).Tally.UntrustedDisputes, 0)
	}
}
