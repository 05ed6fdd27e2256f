package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// Older is an empty database with the schema of an older version.
type Older struct {
	DB      *sql.DB
	Columns string // query: table, column, type, and whether a row must set the column, for each column that rows may set
	// Open migrates the database to the newest version, and opens it. DB is closed before.
	Open func(t *testing.T) Store
}

// Upgrade checks that a database of each version of the schema, with rows in all its tables, has the same content right
// after the migrations to the newest.
func Upgrade(t *testing.T, versions int, older func(t *testing.T, version int) Older) {
	for version := 1; version <= versions; version++ {
		t.Run(fmt.Sprint("from version ", version), func(t *testing.T) {
			t.Parallel()
			o := older(t, version)
			schema := readColumns(t, &o)
			schema.fill(t, o.DB)
			if err := o.DB.Close(); err != nil {
				t.Fatal(err)
			}
			w := &upgraded{testStore: &testStore{T: t, ctx: t.Context(), store: o.Open(t)}, before: schema}
			defer func() { w.must(w.store.Close()) }()
			w.readsFeeds()
			w.readsAccounts()
			w.readsSessions()
			w.readsVotes()
			w.readsRest()
			w.goesOn()
		})
	}
}

// tableColumn is a column of an older database.
type tableColumn struct {
	name, form string
	needed     bool // has no default and may not be null
}

// tableColumns holds the columns of an older database, by table.
type tableColumns map[string][]tableColumn

func readColumns(t *testing.T, o *Older) tableColumns {
	t.Helper()
	rows, err := o.DB.QueryContext(t.Context(), o.Columns)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err returns the error
	all := make(tableColumns)
	for rows.Next() {
		var table string
		var c tableColumn
		if err := rows.Scan(&table, &c.name, &c.form, &c.needed); err != nil {
			t.Fatal(err)
		}
		c.form = strings.ToLower(c.form)
		all[table] = append(all[table], c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// has reports whether the older version has a column.
func (s tableColumns) has(table, column string) bool {
	return slices.ContainsFunc(s[table], func(c tableColumn) bool { return c.name == column })
}

// fill writes the rows of olderRows, and one row into every other table.
func (s tableColumns) fill(t *testing.T, db *sql.DB) {
	t.Helper()
	filled := map[string]bool{"state": true, "schema_migrations": true} // filled by the migrations
	for _, row := range olderRows() {
		if len(s[row.table]) > 0 {
			filled[row.table] = true
			s.insert(t, db, row)
		}
	}
	for table := range s {
		if !filled[table] {
			s.insert(t, db, olderRow{table: table})
		}
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE state SET revision = 2`); err != nil {
		t.Fatal(err)
	}
}

func (s tableColumns) insert(t *testing.T, db *sql.DB, row olderRow) {
	t.Helper()
	var names, places []string
	var values []any
	for _, c := range s[row.table] {
		value, given := row.values[c.name]
		if !given {
			if !c.needed {
				continue
			}
			value = placeholder(&c)
		}
		values = append(values, stored(value, c.form))
		names = append(names, c.name)
		places = append(places, fmt.Sprintf("$%d", len(values)))
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", row.table, strings.Join(names, ", "), strings.Join(places, ", "))
	if _, err := db.ExecContext(t.Context(), statement, values...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// placeholder returns a value for a column that no row names.
func placeholder(c *tableColumn) any {
	switch {
	case c.name == "account" || c.name == "owner" || c.name == "invited_by":
		return olderDriver
	case c.name == "feed_id":
		return olderPulled
	case c.form == "uuid":
		return mapdata.FeedID{9}
	case c.form == "text":
		return "x"
	case c.form == "blob" || c.form == "bytea":
		return []byte("x")
	case c.form == "boolean":
		return true
	case c.form == "array":
		return []string{"x"}
	}
	return 1
}

// stored returns a value in the form of a column of the type.
func stored(value any, form string) any {
	switch v := value.(type) {
	case time.Time:
		return v.UnixMilli()
	case mapdata.AccountID:
		return storedID(v, v.String(), form)
	case mapdata.FeedID:
		return storedID(v, v.String(), form)
	case mapdata.AppID:
		return storedID(v, v.String(), form)
	case bool:
		if form != "boolean" && v {
			return 1
		}
		if form != "boolean" {
			return 0
		}
	case []string:
		if form != "array" {
			text, _ := json.Marshal(v) // strings cannot fail
			return string(text)
		}
	}
	return value
}

func storedID(id [16]byte, text, form string) any {
	if form == "uuid" {
		return text
	}
	return id[:]
}

// upgraded is a store that was migrated from an older version.
type upgraded struct {
	*testStore
	before tableColumns // of the older version
}

// kept returns the value where the older version had the column, otherwise the zero value.
func kept[T any](w *upgraded, table, column string, value T) (v T) {
	if w.before.has(table, column) {
		return value
	}
	return v
}

func (w *upgraded) readsFeeds() {
	w.Helper()
	base := mapdata.Feed{
		Name: "Feed", Description: "D", Attribution: "© É", Licence: kept(w, "feeds", "licence", "ODbL-1.0"), SpecURL: "https://example.org/",
		Direction: mapdata.Push, Visibility: mapdata.Public, Active: true, CreatedAt: start, UpdatedAt: start, EntitiesRevision: 2,
	}
	of := func(id mapdata.FeedID, owner mapdata.AccountID) mapdata.Feed {
		f := base
		f.ID, f.Owner, f.Holds = id, owner, olderHolds(id)
		f.Layer = mapdata.Layer{ID: "layer of " + id.String(), Slug: "slug-" + id.String(), Name: "Layer"}
		return f
	}
	pulled, pushed, empty := of(olderPulled, olderProvider), of(olderPushed, olderProvider), of(olderEmpty, olderDriver)
	pulled.Direction, pulled.PullURL, pulled.PullInterval = mapdata.Pull, "https://feeds.example.org/all.json", time.Minute
	pulled.PullAuthSealed, pulled.SnapshotAt, pulled.Snapshot = []byte{0, 255}, start, 2
	pulled.Polling = mapdata.Polling{NextFetchAt: at(time.Minute), LastFetchedAt: start, LastOutcome: mapdata.OutcomeOK, LastRows: 2}
	pulled.ReviewState, pulled.ApprovedOnce, pulled.Generation = mapdata.Approved, true, kept(w, "feeds", "generation", int64(3))
	pushed.PushTokenHash, pushed.LastPushAt, pushed.ReviewState, pushed.ApprovedOnce = []byte("push token"), start, mapdata.Pending, true
	empty.ReviewState, empty.ReviewNote, empty.Visibility = mapdata.Rejected, "No.", mapdata.Private

	got := make(map[mapdata.FeedID]mapdata.Feed)
	w.must(w.store.AllFeeds(w.ctx, func(f *mapdata.Feed) { got[f.ID] = *f }))
	w.same("feeds", got, map[mapdata.FeedID]mapdata.Feed{olderPulled: pulled, olderPushed: pushed, olderEmpty: empty})

	all := olderEntities()
	w.same("entities of the pull feed", w.entities(&pulled), byID(all[:2]...))
	w.same("entities of the push feed", w.entities(&pushed), byID(all[2]))
	bytes := make(map[mapdata.AccountID]int64) // a recount
	for id, f := range got {
		var holds mapdata.Usage
		for _, e := range w.entities(&f) {
			holds = holds.Plus(mapdata.Usage{Entities: 1, Bytes: mapdata.RowBytes(e.ExternalID, e.Properties, e.Line)})
		}
		w.same("what the feed stores", f.Holds, holds)
		bytes[got[id].Owner] += holds.Bytes
	}
	for id, f := range got {
		mark, err := w.store.Mark(w.ctx, id)
		w.must(err)
		w.same("what the account stores", mark.AccountBytes, bytes[f.Owner])
	}
}

func (w *upgraded) readsAccounts() {
	w.Helper()
	accounts, err := w.store.Accounts(w.ctx)
	w.must(err)
	w.same("accounts", accounts, []mapdata.Account{
		{
			ID: olderProvider, Email: "provider@example.org", Role: mapdata.Curator, Tier: mapdata.TierPremium, CreatedAt: start,
			Language: kept(w, "accounts", "language", mapdata.Language("de")),
		},
		{ID: olderDriver, Email: "driver@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: at(time.Hour)},
	})
	token, _, err := w.store.APIToken(w.ctx, []byte("api token"))
	w.must(err)
	w.same("API token", token, &mapdata.APIToken{
		ID: "token", Account: olderDriver, Name: "Server", TokenHash: []byte("api token"), CreatedAt: start,
	})
	preferences, err := w.store.Preferences(w.ctx, olderDriver)
	w.must(err)
	want := &mapdata.Preferences{}
	if w.before.has("preferences", "account") {
		units, tones, lead := "metric", false, 0.75
		want = &mapdata.Preferences{Units: &units, Tones: &tones, Lead: &lead, SourcesOff: []string{"incidents", `"é`}}
	}
	w.same("preferences", preferences, want)
	places, err := w.store.SavedPlaces(w.ctx, olderDriver)
	w.must(err)
	w.same("saved places", places, kept(w, "saved_places", "sealed", []byte{1, 255}))
	passkeys, err := w.store.Passkeys(w.ctx, olderProvider)
	w.must(err)
	w.same("passkeys", len(passkeys), kept(w, "passkeys", "id", 1))
	on, err := w.store.ReviewEmails(w.ctx, olderProvider)
	w.must(err)
	w.same("the curator gets e-mails", on, !w.before.has("review_calls", "off"))
}

// readsSessions checks that a session from before passkeys is one of a browser, and that later ones without a proof are
// paired screens.
func (w *upgraded) readsSessions() {
	w.Helper()
	browser := mapdata.Session{
		ID: "browser", TokenHash: []byte("cookie"), Account: olderDriver, CreatedAt: start, SeenAt: at(time.Hour), Agent: "Browser", ProvedAt: start,
	}
	screen := mapdata.Session{
		ID: "screen", TokenHash: []byte("screen's cookie"), Account: olderDriver, CreatedAt: start, SeenAt: start, Agent: "Car",
		Scope: mapdata.ScopeScreen,
	}
	if !w.before.has("sessions", "proved_at") {
		screen.ProvedAt, screen.Scope = start, mapdata.ScopeAccount
	}
	for _, want := range []mapdata.Session{browser, screen} {
		got, holder, err := w.store.Session(w.ctx, want.TokenHash)
		w.must(err)
		w.same("session", *got, want)
		w.same("its account", holder.ID, olderDriver)
	}
}

func (w *upgraded) readsVotes() {
	w.Helper()
	votes := w.before.has("votes", "vote")
	var ballots []mapdata.Ballot
	tallies := make(map[string]mapdata.Tally)
	if votes {
		source := olderPulled.SourceID()
		ballots = []mapdata.Ballot{{Source: source, ExternalID: "kept", Account: olderDriver, Vote: mapdata.Confirm, At: at(time.Minute)}}
		tallies[mapdata.EntityID(source, "kept")] = mapdata.Tally{
			Source: source, ExternalID: "kept", Confirms: 1, Disputes: 1, LastDisputeAt: start, KeptUntil: at(2 * time.Hour),
			ChangedAt: at(time.Minute), LifeAt: start,
		}
		w.wantVote("the driver's vote", source, "kept", &mapdata.Account{ID: olderDriver}, mapdata.Confirm)
	}
	got, err := w.store.Ballots(w.ctx, olderDriver)
	w.must(err)
	w.same("votes of the driver", got, ballots)
	w.same("tallies", w.tallies(time.Time{}), tallies)
}

func (w *upgraded) readsRest() {
	w.Helper()
	attempts, err := attemptsOf(w.testStore, w.store, olderPulled, time.Time{})
	w.must(err)
	w.same("attempts", attempts, []mapdata.Attempt{{
		At: start, Duration: 1500 * time.Microsecond, OK: true, Outcome: mapdata.OutcomeOK, Rows: 3, Rejected: 1, Bytes: 321,
		Unchanged: kept(w, "attempts", "unchanged", 1), Retired: kept(w, "attempts", "retired", 2),
	}})
	rejections, err := w.store.Rejections(w.ctx, olderPulled, time.Time{})
	w.must(err)
	w.same("rejections", len(rejections), kept(w, "rejections", "code", 1))
	w.same("audit log", entries(w.audit(mapdata.AuditQuery{})), []mapdata.AuditEntry{
		{At: start, Actor: olderDriver, Action: mapdata.AuditFeedApprove, Subject: olderPushed.String(), Note: "é"},
	})
	changes := w.changes(1, 10)
	w.same("changes", len(changes), 1)
	w.same("the changed entities", byID(changes[0].Entities...), byID(olderEntities()[0]))
	signIn, err := w.store.TakeSignIn(w.ctx, []byte("link"), at(time.Minute))
	w.must(err)
	w.same("the pending sign-in", signIn.Email, "driver@example.org")
	if w.before.has("pairings", "id") {
		pairing, err := w.store.Pairing(w.ctx, []byte("device"))
		w.must(err)
		w.same("the pairing's tries", pairing.Tries, 2)
	}
	emails, err := w.store.DueEmails(w.ctx, at(time.Minute), at(time.Hour), 10)
	w.must(err)
	w.same("e-mails", len(emails), 1)
	w.same("what the e-mail says", emails[0].Data, map[string]string{"feed_name": "é"})
	if w.before.has("apps", "id") {
		w.readsApps()
	}
}

func (w *upgraded) readsApps() {
	w.Helper()
	w.same("app", w.readApp(olderApp), &mapdata.App{
		ID: olderApp, Slug: "trip", Owner: olderDriver, CreatedAt: start, UpdatedAt: start,
		Versions: []mapdata.AppVersion{{Number: 1, State: mapdata.AppApproved, Fields: mapdata.AppFields{Name: "é"}, SubmittedAt: start, DecidedAt: at(time.Hour)}},
	})
	w.same("installed apps", w.installs(&mapdata.Account{ID: olderDriver}), []mapdata.AppInstall{
		{Account: olderDriver, App: olderApp, Config: []byte{1, 255}, Hidden: true, InstalledAt: start},
	})
}

// goesOn uses the upgraded store: it prunes, takes a push, and deletes the provider's account with its usage.
func (w *upgraded) goesOn() {
	w.Helper()
	w.must(w.store.Prune(w.ctx, at(time.Hour)))
	pushed := &mapdata.Feed{ID: olderPushed}
	w.apply(w.pushed(pushed, at(time.Hour), entity(pushed, "new", at(time.Hour))))
	w.same("entities after a push", len(w.entities(pushed)), 2)
	w.must(w.store.DeleteAccount(w.ctx, olderProvider, mapdata.AuditEntry{At: start, Action: mapdata.AuditAccountDelete}))
	w.must(w.store.Prune(w.ctx, at(2*time.Hour)))
	var left int
	w.must(w.store.AllEntities(w.ctx, 0, 1, func(*mapdata.Entity) { left++ }))
	w.same("entities of a deleted account", left, 0)
}
