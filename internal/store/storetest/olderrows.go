package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// The ids of the rows in an older database.
var (
	olderProvider, olderDriver = mapdata.AccountID{1}, mapdata.AccountID{2}
	olderPulled, olderPushed   = mapdata.FeedID{3}, mapdata.FeedID{4}
	olderEmpty, olderDeleted   = mapdata.FeedID{5}, mapdata.FeedID{6}
	olderApp                   = mapdata.AppID{7}
)

// olderRow is a row of a table: its values by column, where the version has the column. Times, UUIDs, booleans and lists are written in
// each database's form.
type olderRow struct {
	table  string
	values map[string]any
}

// olderRows returns rows of an older database, each after the rows that it references. Columns that the rows do not name have their
// defaults, and the counts of 0018_bounds are those of olderEntities.
func olderRows() []olderRow {
	rows := []olderRow{
		{"accounts", map[string]any{
			"id": olderProvider, "email": "provider@example.org", "role": "curator", "tier": "premium", "created_at": start, "language": "de",
			"stored_bytes": olderHolds(olderPulled).Bytes + olderHolds(olderPushed).Bytes,
		}},
		{"accounts", map[string]any{
			"id": olderDriver, "email": "driver@example.org", "role": "driver", "tier": "account", "created_at": at(time.Hour),
		}},
		olderFeed(olderPulled, olderProvider, map[string]any{
			"direction": "pull", "pull_url": "https://feeds.example.org/all.json", "pull_interval_ms": 60_000, "pull_auth_sealed": []byte{0, 255},
			"next_fetch_at": at(time.Minute), "last_fetched_at": start, "last_outcome": "ok", "last_rows": 2, "snapshot_at": start, "snapshot": 2,
			"review_state": "approved", "approved_once": true, "generation": 3,
		}),
		olderFeed(olderPushed, olderProvider, map[string]any{
			"push_token_hash": []byte("push token"), "last_push_at": start, "review_state": "pending", "approved_once": true,
		}),
		olderFeed(olderEmpty, olderDriver, map[string]any{"review_state": "rejected", "review_note": "No.", "visibility": "private"}),
		{"deleted_feeds", map[string]any{"id": olderDeleted}},
		{"attempts", map[string]any{
			"feed_id": olderPulled, "at": start, "revision": 2, "duration_us": 1500, "ok": true, "outcome": "ok", "rows": 3, "rejected": 1,
			"bytes": 321, "unchanged": 1, "retired": 2,
		}},
		{"rejections", map[string]any{"feed_id": olderPulled, "code": "missing_lat", "at": start, "rows": 1, "examples": "[]"}},
		{"changes", map[string]any{"revision": 2, "feed_id": olderPulled, "at": start, "entities": 1, "external_ids": []string{"kept"}}},
	}
	for _, e := range olderEntities() {
		rows = append(rows, olderEntityRow(&e))
	}
	leftover := olderEntities()[0]
	leftover.Feed = olderDeleted // is still being removed, and counts for no account
	rows = append(rows, olderEntityRow(&leftover))
	rows = append(rows, olderVotes()...)
	return append(rows, olderAccountRows()...)
}

func olderFeed(id mapdata.FeedID, owner mapdata.AccountID, more map[string]any) olderRow {
	holds := olderHolds(id)
	values := map[string]any{
		"id": id, "owner": owner, "layer_id": "layer of " + id.String(), "layer_slug": "slug-" + id.String(), "layer_name": "Layer",
		"name": "Feed", "description": "D", "attribution": "© É", "licence": "ODbL-1.0", "spec_url": "https://example.org/",
		"direction": "push", "visibility": "public", "active": true, "review_note": "", "created_at": start, "updated_at": start,
		"pull_url": "", "pull_interval_ms": 0, "last_outcome": "", "last_error": "", "last_rows": 0, "last_rejected": 0,
		"consecutive_failures": 0, "shrank": false, "snapshot": 0, "snapshot_rows": 0, "entities_revision": 2,
		"stored_entities": holds.Entities, "stored_bytes": holds.Bytes,
	}
	for column, value := range more {
		values[column] = value
	}
	return olderRow{"feeds", values}
}

// olderEntities returns the entities of the feeds that exist: decaying and persistent, with ids and properties of several bytes per
// character.
func olderEntities() []mapdata.Entity {
	all := make([]mapdata.Entity, 0, 3)
	for _, of := range []struct {
		feed       mapdata.FeedID
		id         string
		properties string
	}{{olderPulled, "kept", `{"street":"Damrak"}`}, {olderPulled, "café 🦀", `{"street":"Straße"}`}, {olderPushed, "kept", `{}`}} {
		e := entity(&mapdata.Feed{ID: of.feed}, of.id, start)
		e.Properties = []byte(of.properties)
		all = append(all, e)
	}
	all[1].SeenAt, all[1].Lifetime, all[1].AbsentSince = time.Time{}, 0, 2
	return all
}

func olderEntityRow(e *mapdata.Entity) olderRow {
	values := map[string]any{
		"feed_id": e.Feed, "external_id": e.ExternalID, "kind": e.Kind.ID(), "lat": e.Point.Lat, "lng": e.Point.Lng,
		"properties": string(e.Properties), "network": e.Network, "digest": int64(e.Digest), "lifetime_ms": e.Lifetime.Milliseconds(),
		"first_seen_at": e.FirstSeenAt, "changed_at": e.ChangedAt,
	}
	if !e.SeenAt.IsZero() {
		values["seen_at"] = e.SeenAt
	}
	if e.AbsentSince != 0 {
		values["absent_since"] = e.AbsentSince
	}
	return olderRow{"entities", values}
}

// olderHolds returns the usage of a feed, counted like the store's (D5.10).
func olderHolds(feed mapdata.FeedID) (holds mapdata.Usage) {
	for _, e := range olderEntities() {
		if e.Feed == feed {
			holds = holds.Plus(mapdata.Usage{Entities: 1, Bytes: mapdata.RowBytes(e.ExternalID, e.Properties, e.Line)})
		}
	}
	return holds
}

func olderVotes() []olderRow {
	source := string(olderPulled.SourceID())
	return []olderRow{
		{"voted", map[string]any{
			"source": source, "external_id": "kept", "confirms": 1, "disputes": 1, "last_dispute_at": start, "kept_until": at(2 * time.Hour),
			"changed_at": at(time.Minute), "life_at": start, "kind": "alert.construction", "lat": 52.0, "lng": 4.0, "first_seen_at": start,
			"last_seen_at": start, "properties": "{}",
		}},
		{"votes", map[string]any{
			"source": source, "external_id": "kept", "life_at": start, "account": olderDriver, "vote": 1, "at": at(time.Minute),
		}},
		{"votes", map[string]any{ // severed
			"source": source, "external_id": "kept", "life_at": start, "account": nil, "vote": -1, "at": start,
		}},
	}
}

func olderAccountRows() []olderRow {
	return []olderRow{
		{"sessions", map[string]any{
			"id": "browser", "token_hash": []byte("cookie"), "account": olderDriver, "created_at": start, "seen_at": at(time.Hour),
			"agent": "Browser", "proved_at": start,
		}},
		{"sessions", map[string]any{
			"id": "screen", "token_hash": []byte("screen's cookie"), "account": olderDriver, "created_at": start, "seen_at": start,
			"agent": "Car", "scope": "screen",
		}},
		{"sign_ins", map[string]any{
			"token_hash": []byte("link"), "email": "driver@example.org", "code_hash": []byte("code"), "created_at": start,
			"expires_at": at(10 * time.Minute), "tries": 1,
		}},
		{"api_tokens", map[string]any{
			"id": "token", "account": olderDriver, "name": "Server", "token_hash": []byte("api token"), "created_at": start,
		}},
		{"audit", map[string]any{
			"at": start, "actor": olderDriver, "action": mapdata.AuditFeedApprove, "subject": olderPushed.String(), "note": "é",
		}},
		{"outbox", map[string]any{
			"account": olderProvider, "kind": "feed_approved", "data": `{"feed_name":"é"}`, "at": start, "tries": 1, "due": start,
		}},
		{"preferences", map[string]any{
			"account": olderDriver, "units": "metric", "tones": false, "lead": 0.75, "sources_off": []string{"incidents", `"é`},
		}},
		{"saved_places", map[string]any{"account": olderDriver, "sealed": []byte{1, 255}}},
		{"passkeys", map[string]any{
			"id": "passkey", "credential_id": []byte("credential"), "account": olderProvider, "name": "Phone", "blob": []byte{1}, "created_at": start,
		}},
		{"pairings", map[string]any{
			"device_hash": []byte("device"), "name": "BCDF", "code_hash": []byte("pairing code"), "agent": "Car", "created_at": start,
			"expires_at": at(10 * time.Minute), "state": "pending", "account": nil, "tries": 2,
		}},
		{"complaints", map[string]any{
			"id": "complaint", "source": string(olderPulled.SourceID()), "external_id": "kept", "account": olderDriver, "text": "Gone.", "at": start,
		}},
		{"feed_maintainers", map[string]any{"feed_id": olderPushed, "account": olderDriver, "since": start}},
		{"feed_invitations", map[string]any{
			"id": "invitation", "feed_id": olderPushed, "what": "maintain", "email": "colleague@example.org", "invited_by": olderProvider,
			"at": start, "expires_at": at(time.Hour),
		}},
		{"review_calls", map[string]any{"account": olderProvider, "off": true}},
		{"apps", map[string]any{"id": olderApp, "slug": "trip", "owner": olderDriver, "created_at": start, "updated_at": start, "suspended_at": nil}},
		{"app_versions", map[string]any{
			"app": olderApp, "number": 1, "state": "approved", "fields": `{"name":"é"}`, "submitted_at": start, "decided_at": at(time.Hour),
		}},
		{"app_icons", map[string]any{"app": olderApp, "name": "icon", "png": []byte{1, 255}}},
		{"app_installs", map[string]any{"account": olderDriver, "app": olderApp, "config": []byte{1, 255}, "hidden": true, "installed_at": start}},
	}
}
