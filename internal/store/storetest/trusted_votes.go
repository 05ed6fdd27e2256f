package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// trustAfter is votes.trust_after in these tests.
const trustAfter = 24 * time.Hour

// signedIn creates an account that first signed in at the given time.
func (w *testStore) signedIn(first time.Time) *mapdata.Account {
	w.Helper()
	a := w.account()
	w.signIn(a, first, "first")
	return a
}

func (w *testStore) signIn(a *mapdata.Account, when time.Time, name string) {
	w.Helper()
	s := session(a, name+" of "+a.Email)
	s.CreatedAt, s.SeenAt = when, when
	w.must(w.store.CreateSession(w.ctx, s, ""))
}

// weighed returns the ballot with TrustAfter, so that it counts towards suppression from trustAfter after the account's
// first sign-in.
func weighed(b *mapdata.Ballot) *mapdata.Ballot {
	b.TrustAfter = trustAfter
	return b
}

// untrustedCounts returns confirms and disputes, each followed by the number that does not count towards suppression.
func untrustedCounts(t *mapdata.Tally) [4]int {
	return [4]int{t.Confirms, t.UntrustedConfirms, t.Disputes, t.UntrustedDisputes}
}

// weighsVotes checks that a vote of a new account counts towards suppression once it is cast again a day after the
// first sign-in (D9.8).
func weighsVotes(w *testStore) {
	known, fresh, never := w.signedIn(at(-trustAfter)), w.signedIn(start), w.account()
	f := w.pushFeed(w.account())
	e := entity(f, "a", start)
	e.Kind, e.Lifetime = kindOf("camera.speed"), 0
	w.apply(w.pushed(f, start, e))
	w.signIn(fresh, at(time.Hour), "a later session, which is not the first,")
	id := mapdata.EntityID(f.ID.SourceID(), "a")
	for i, c := range []struct {
		by       *mapdata.Account
		vote     mapdata.Vote
		when     time.Time
		want     [4]int
		disputed time.Time
	}{
		{fresh, mapdata.Dispute, at(0), [4]int{0, 0, 1, 1}, time.Time{}},
		{never, mapdata.Dispute, at(time.Second), [4]int{0, 0, 2, 2}, time.Time{}},
		{known, mapdata.Dispute, at(2 * time.Second), [4]int{0, 0, 3, 2}, at(2 * time.Second)},
		{fresh, mapdata.Dispute, at(3 * time.Second), [4]int{0, 0, 3, 2}, at(2 * time.Second)}, // a repetition
		{fresh, mapdata.Confirm, at(4 * time.Second), [4]int{1, 1, 2, 1}, at(2 * time.Second)},
		{fresh, mapdata.NoVote, at(5 * time.Second), [4]int{0, 0, 2, 1}, at(2 * time.Second)},
		{fresh, mapdata.Dispute, at(trustAfter - time.Millisecond), [4]int{0, 0, 3, 2}, at(2 * time.Second)},
		// Beside the known account's dispute it would not, because it has done nothing else (isSomebodyElse).
		{known, mapdata.NoVote, at(trustAfter - time.Millisecond), [4]int{0, 0, 2, 2}, time.Time{}},
		{fresh, mapdata.Dispute, at(trustAfter), [4]int{0, 0, 2, 1}, at(trustAfter)}, // now it counts
		{fresh, mapdata.NoVote, at(trustAfter + time.Second), [4]int{0, 0, 1, 1}, time.Time{}},
	} {
		after := w.state().Revision
		got := w.cast(weighed(ballot(f, "a", c.by, c.vote, c.when))).Tally
		w.same("counts", untrustedCounts(&got), c.want)
		if !got.LastDisputeAt.Equal(c.disputed) {
			w.Errorf("vote %d: last dispute that counts at %v, want %v", i, got.LastDisputeAt, c.disputed)
		}
		w.same("stored tallies", w.tallies(time.Time{}), map[string]mapdata.Tally{id: got})
		w.same("what followers get", w.changes(after, 10)[0].Tallies, []mapdata.Tally{got})
	}
}

// weighsVotesOnLive checks the same for live incidents.
func weighsVotesOnLive(w *testStore) {
	known, fresh := w.signedIn(at(-trustAfter)), w.signedIn(start)
	w.cast(weighed(liveBallot("a", fresh, mapdata.Dispute, start)))
	got := w.cast(weighed(liveBallot("a", known, mapdata.Confirm, at(time.Second)))).Tally
	w.same("counts", untrustedCounts(&got), [4]int{1, 0, 1, 1})
	var all []mapdata.Tally
	w.must(w.store.LiveTallies(w.ctx, kindOf("alert.police"), start, func(t *mapdata.Tally) { all = append(all, *t) }))
	w.same("as replicas read it", all, []mapdata.Tally{got})
}

// seversWeighedVotes checks that a severed vote counts as before, and so does the rest when others withdraw theirs.
func seversWeighedVotes(w *testStore) {
	const old = 30 * 24 * time.Hour
	known, other, fresh := w.person(), w.person(), w.signedIn(start)
	f := w.pushFeed(w.account())
	e := entity(f, "a", start)
	e.Kind, e.Lifetime = kindOf("camera.speed"), 0
	w.apply(w.pushed(f, start, e))
	w.cast(weighed(ballot(f, "a", known, mapdata.Dispute, start)))
	w.cast(weighed(ballot(f, "a", fresh, mapdata.Dispute, at(time.Minute))))
	last := w.cast(weighed(ballot(f, "a", other, mapdata.Dispute, at(2*time.Hour)))).Tally
	w.same("last dispute that counts, of two", last.LastDisputeAt, at(2*time.Hour))
	before := w.tallies(time.Time{})
	w.must(w.store.Prune(w.ctx, at(old+time.Hour)))
	w.wantVote("severed", f.ID.SourceID(), "a", fresh, mapdata.NoVote)
	w.same("tallies, which stay", w.tallies(time.Time{}), before)
	got := w.cast(weighed(ballot(f, "a", other, mapdata.NoVote, at(old+time.Hour)))).Tally
	w.same("counts", untrustedCounts(&got), [4]int{0, 0, 2, 1})
	w.same("last dispute that counts", got.LastDisputeAt, start)
}

// countsFirstSignIn checks that neither a paired screen nor a later session is the first sign-in.
func countsFirstSignIn(w *testStore) {
	paired := w.account()
	p := w.approved(paired, "screen")
	_, err := w.store.TakePairing(w.ctx, p.DeviceHash, p.CreatedAt, session(paired, "screen"), "", nil)
	w.must(err)
	got := w.cast(weighed(liveBallot("a", paired, mapdata.Dispute, at(10*trustAfter)))).Tally
	w.same("after pairing alone", untrustedCounts(&got), [4]int{0, 0, 1, 1})
	w.signIn(paired, at(10*trustAfter), "first")
	got = w.cast(weighed(liveBallot("a", paired, mapdata.Dispute, at(11*trustAfter)))).Tally
	w.same("a day after the first sign-in", untrustedCounts(&got), [4]int{0, 0, 1, 0})
}
