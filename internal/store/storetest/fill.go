package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/mapdata"
)

// Fill stores data in every table, among them the given number of entities, as years of use would leave them, for tests
// that copy a store.
func Fill(t *testing.T, store Store, rows int) {
	t.Helper()
	w := &testStore{T: t, ctx: t.Context(), store: store}
	drivers := w.drivers(3)
	curator := *drivers[0]
	curator.Role, curator.Tier = mapdata.Curator, mapdata.TierPremium
	w.must(store.UpdateAccount(w.ctx, &curator, mapdata.AuditEntry{At: start, Action: "account.role", Subject: "é", Note: "\"'\\\n"}))
	w.fillAccounts(drivers)

	pushed, polled := w.pushFeed(drivers[0]), w.pullFeed(drivers[1])
	w.must(store.CreateFeed(w.ctx, w.fullFeed(drivers[2]), unlimitedFeeds))
	drawn := rapid.Custom(func(r *rapid.T) mapdata.Entity {
		return drawEntity(r, &mapdata.Change{Feed: pushed.ID, At: start}, "")
	})
	c := w.pushed(pushed, start)
	for i := range rows {
		e := drawn.Example(i)
		e.ExternalID = fmt.Sprintf("%d \"\\' é \U0001F980 %s", i, e.Kind.ID())
		c.Upserts = append(c.Upserts, e)
	}
	w.apply(c)
	w.mailed(pushed, mapdata.Email{Account: drivers[0].ID, Kind: mapdata.EmailShrank, Data: map[string]string{"a": "<é>"}, At: start})

	fixed, absent := entity(polled, "fixed", start), entity(polled, "absent", start)
	fixed.SeenAt, absent.SeenAt = time.Time{}, time.Time{}
	w.apply(w.polled(polled, start, 2, fixed, absent))
	missing := w.polled(polled, at(time.Minute), 1)
	missing.Absent = []string{"absent"}
	w.apply(missing)
	w.must(store.PollFailed(w.ctx, failedPoll(polled, at(2*time.Minute))))

	for i, v := range []mapdata.Vote{mapdata.Confirm, mapdata.Dispute, mapdata.Dispute} {
		w.cast(ballot(polled, "fixed", drivers[i], v, at(time.Duration(i)*time.Second)))
		w.cast(liveBallot("live", drivers[i], v, at(time.Duration(i)*time.Second)))
	}
	w.cast(ballot(polled, "fixed", drivers[1], mapdata.NoVote, at(time.Minute)))

	w.hide(w.hidden(polled, "fixed", at(time.Hour), mapdata.ForGood()))
	w.must(store.Complain(w.ctx, complaint(drivers[1], polled.ID.SourceID(), "1", start), start, 1))

	joined, err := w.accept(w.invite(pushed, drivers[0], mapdata.InvitedToMaintain, drivers[1].Email), drivers[1], mapdata.ReceiverLimits{})
	w.must(err)
	w.invite(joined, drivers[0], mapdata.InvitedToTransfer, drivers[2].Email)

	app := w.approve(w.createdApp(drivers[0]))
	w.must(w.store.RecordAppPage(w.ctx, app.ID, 1, mapdata.AppPage{Digest: "d", ChangedAt: start}, at(time.Hour)))
	w.must(w.setInstall(&mapdata.AppInstall{Account: drivers[1].ID, App: app.ID, Config: []byte{0, 255}, Hidden: true, InstalledAt: start}, 1))

	gone := w.pushFeed(drivers[1])
	w.apply(w.pushed(gone, start, entity(gone, "a", start)))
	w.must(store.DeleteFeed(w.ctx, gone.ID, mapdata.AuditEntry{At: start, Actor: drivers[0].ID, Action: "feed.delete"}))
}

// fillAccounts stores sessions, passkeys, tokens and preferences of accounts.
func (w *testStore) fillAccounts(drivers []*mapdata.Account) {
	w.Helper()
	_, err := w.store.CreateSignIn(w.ctx, signIn("waits", start), &mapdata.Email{Kind: mapdata.EmailSignIn, At: start}, start, unlimitedFeeds)
	w.must(err)
	_, err = w.store.CreateSignIn(w.ctx, signIn("used", start), nil, start, unlimitedFeeds)
	w.must(err)
	_, err = w.store.TakeSignIn(w.ctx, []byte("token used"), start)
	w.must(err)
	for i, a := range drivers {
		w.must(w.store.CreateSession(w.ctx, session(a, fmt.Sprint("session ", i)), ""))
		token := &mapdata.APIToken{ID: fmt.Sprint("token ", i), Account: a.ID, Name: "é", TokenHash: []byte{0, 255, byte(i)}, CreatedAt: start}
		w.must(w.store.CreateAPIToken(w.ctx, token, mapdata.AuditEntry{At: start, Actor: a.ID, Action: "api_token.create"}, nil))
	}
	w.must(w.store.TouchAPIToken(w.ctx, "token 0", at(time.Hour)))
	w.must(w.store.UsePasskey(w.ctx, use(w.passkeyOf(drivers[0], "used"), "by passkey")))
	w.passkeyOf(drivers[1], "never used")
	w.pairingOf("BCDF", "waits")
	w.must(w.answer(w.store, w.pairingOf("GHJK", "answered"), start, drivers[1], mapdata.PairingApproved))
	units, tones, lead := "metric", false, 0.75
	w.must(w.store.SetPreferences(w.ctx, drivers[0].ID, &mapdata.Preferences{
		Units: &units, Tones: &tones, Lead: &lead, SourcesOff: []string{"incidents", `"\é`}, Networks: []string{},
	}))
	w.must(w.store.SetPreferences(w.ctx, drivers[1].ID, &mapdata.Preferences{}))
	w.must(w.store.SetSavedPlaces(w.ctx, drivers[1].ID, []byte{0, 255}))
}

// Same fails the test where two stores have different contents. It changes neither.
func Same(t *testing.T, a, b Store) {
	t.Helper()
	left, right := answersOf(t, a), answersOf(t, b)
	for name := range left {
		if diff := cmp.Diff(left[name], right[name]); diff != "" {
			t.Errorf("%s (-first +second):\n%s", name, diff)
		}
	}
}

// answersOf reads the contents of a store.
func answersOf(t *testing.T, store Store) map[string]any {
	t.Helper()
	w := &testStore{T: t, ctx: t.Context(), store: store}
	state := w.state()
	state.Epoch = "" // differs between stores
	entities, attempts, owned := make(map[string]mapdata.Entity), make(map[string][]mapdata.Attempt), make(map[string]any)
	w.must(store.AllEntities(w.ctx, 0, 1, func(e *mapdata.Entity) {
		own := *e
		own.Properties = append([]byte(nil), e.Properties...)
		entities[e.Feed.String()+e.ExternalID] = own
	}))
	var feeds []mapdata.Feed
	w.must(store.AllFeeds(w.ctx, func(f *mapdata.Feed) { feeds = append(feeds, *f) }))
	for _, f := range feeds {
		all, err := attemptsOf(w, store, f.ID, time.Time{})
		w.must(err)
		attempts[f.ID.String()] = all
	}
	accounts, err := store.Accounts(w.ctx)
	w.must(err)
	for _, a := range accounts {
		sessions, err := store.Sessions(w.ctx, a.ID)
		w.must(err)
		tokens, err := store.APITokens(w.ctx, a.ID)
		w.must(err)
		passkeys, err := store.Passkeys(w.ctx, a.ID)
		w.must(err)
		chosen, err := store.Preferences(w.ctx, a.ID)
		w.must(err)
		vote, err := store.Vote(w.ctx, mapdata.Incidents, "live", a.ID)
		w.must(err)
		apps, err := store.AppsOf(w.ctx, a.ID)
		w.must(err)
		places, err := store.SavedPlaces(w.ctx, a.ID)
		w.must(err)
		owned[a.Email] = []any{sessions, tokens, passkeys, chosen, vote, apps, w.installs(&a), places}
	}
	log := w.audit(mapdata.AuditQuery{})
	for i := range log {
		log[i].ID = int64(i) // only their order is the same
	}
	owned["audit log"] = log
	changes := w.changes(0, unlimitedFeeds)
	for i := range changes {
		byID := make(map[string]mapdata.Entity)
		for _, e := range changes[i].Entities {
			byID[e.ExternalID] = e
		}
		owned[fmt.Sprint("change ", changes[i].Revision)] = byID
		changes[i].Entities = nil // they have no order
	}
	return map[string]any{
		"state": state, "entities": entities, "feeds": feeds, "attempts": attempts, "accounts": accounts, "owned": owned,
		"changes": changes, "tallies": w.tallies(time.Time{}),
	}
}
