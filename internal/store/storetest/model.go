package storetest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func wholeTests() map[string]func(*testStore) {
	return map[string]func(*testStore){"the store agrees with a model under random changes": followsModel}
}

// model is the reference implementation of a store of one feed, for the property test.
type model struct {
	entities   map[string]mapdata.Entity
	snapshotAt time.Time
	snapshot   int64
}

func (m *model) apply(c *mapdata.Change) {
	for _, e := range c.Upserts {
		m.entities[e.ExternalID] = e
	}
	for _, id := range c.Touched {
		if e, ok := m.entities[id]; ok {
			e.SeenAt, e.AbsentSince = c.At, 0
			m.entities[id] = e
		}
	}
	for _, id := range c.Absent {
		if e, ok := m.entities[id]; ok {
			e.SeenAt, e.AbsentSince = e.LastSeenAt(m.snapshotAt), c.Snapshot.Snapshot
			m.entities[id] = e
		}
	}
	for _, id := range c.Retired {
		delete(m.entities, id)
	}
	if c.Snapshot != nil {
		m.snapshotAt, m.snapshot = c.At, c.Snapshot.Snapshot
	}
}

func (m *model) forget(ids []string, before time.Time) {
	for _, id := range ids {
		if e, ok := m.entities[id]; ok {
			if end, expires := e.ExpiresAt(m.snapshotAt); expires && !end.After(before) {
				delete(m.entities, id)
			}
		}
	}
}

func (m *model) alive(now time.Time) (n int) {
	for _, e := range m.entities {
		if end, expires := e.ExpiresAt(m.snapshotAt); !expires || now.Before(end) {
			n++
		}
	}
	return n
}

func (m *model) holds() (u mapdata.Usage) {
	for id, e := range m.entities {
		u = u.Plus(mapdata.Usage{Entities: 1, Bytes: mapdata.RowBytes(id, e.Properties, e.Line)})
	}
	return u
}

// followsModel applies sequences of changes to the store, to the model, and to a follower of the store.
func followsModel(w *testStore) {
	owner := w.account()
	rapid.Check(w.T, func(r *rapid.T) {
		f := w.pullFeed(owner)
		defer func() {
			if err := w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}); err != nil { // otherwise reading all entities takes ever longer
				r.Error(err)
			}
		}()
		m := &model{entities: make(map[string]mapdata.Entity)}
		following := &follower{revision: w.state().Revision, known: make(map[string]mapdata.Entity)}
		now := start
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(r, "minutes")) * time.Minute)
			if rapid.IntRange(0, 4).Draw(r, "forget") == 0 {
				ids := slices.Sorted(maps.Keys(m.entities))
				if err := w.store.Forget(w.ctx, f.ID, ids, now); err != nil {
					r.Fatal(err)
				}
				m.forget(ids, now)
			} else {
				c := drawChange(r, w, f, m, now)
				w.count(c)
				if err := w.store.Apply(w.ctx, c); err != nil {
					r.Fatal(err)
				}
				m.apply(c)
			}
			if mark, err := w.store.Mark(w.ctx, f.ID); err != nil || mark.Holds != m.holds() || mark.AccountBytes != mark.Holds.Bytes {
				r.Fatalf("mark %+v, %v; want %+v", mark, err, m.holds())
			}
			if diff := cmp.Diff(m.entities, w.entities(f)); diff != "" {
				r.Fatalf("entities (-model +store):\n%s", diff)
			}
			n, err := w.store.CountEntities(w.ctx, f.ID, now)
			if err != nil || n != m.alive(now) {
				r.Fatalf("CountEntities = %d, %v; want %d", n, err, m.alive(now))
			}
		}
		if err := following.catchUp(w.ctx, w.store); err != nil {
			r.Fatal(err)
		}
		// Forgotten entities are not in the log of changes: a follower removes expired entities itself.
		ids := slices.Sorted(maps.Keys(following.known))
		for _, id := range ids {
			if _, ok := m.entities[id]; !ok {
				e := following.known[id]
				if end, expires := e.ExpiresAt(m.snapshotAt); !expires || end.After(now) {
					r.Fatalf("the follower has %q, which was removed", id)
				}
				delete(following.known, id)
			}
		}
		if diff := cmp.Diff(m.entities, following.known); diff != "" {
			r.Fatalf("entities (-model +follower):\n%s", diff)
		}
	})
}

// drawChange draws a change in which every id is in one list only.
func drawChange(r *rapid.T, w *testStore, f *mapdata.Feed, m *model, now time.Time) *mapdata.Change {
	mark, err := w.store.Mark(w.ctx, f.ID)
	if err != nil {
		r.Fatal(err)
	}
	c := &mapdata.Change{Feed: f.ID, Base: mark.EntitiesRevision, Holds: mark.Holds, At: now, Attempt: mapdata.Attempt{At: now, OK: true}}
	if rapid.Bool().Draw(r, "snapshot") {
		c.Snapshot = &mapdata.SnapshotTaken{Snapshot: m.snapshot + 1}
	}
	for n := range rapid.IntRange(0, 12).Draw(r, "ids") {
		id := fmt.Sprint("id ", n)
		switch rapid.IntRange(0, 5).Draw(r, "fate") {
		case 0, 1:
			c.Upserts = append(c.Upserts, drawEntity(r, c, id))
		case 2:
			c.Touched = append(c.Touched, id)
		case 3:
			c.Retired = append(c.Retired, id)
		case 4:
			if c.Snapshot != nil && !m.snapshotAt.IsZero() {
				c.Absent = append(c.Absent, id)
			}
		}
	}
	return c
}

// drawEntity draws an entity; rows of a snapshot usually have the snapshot's time.
func drawEntity(r *rapid.T, c *mapdata.Change, id string) mapdata.Entity {
	e := mapdata.Entity{
		Feed: c.Feed, ExternalID: id, Kind: mapdata.Kind(rapid.IntRange(0, mapdata.KindCount-1).Draw(r, "kind")),
		Point: geo.Point{
			Lat: rapid.Float64Range(-90, 90).Draw(r, "lat"), Lng: rapid.Float64Range(-180, 180).Draw(r, "lng"),
		},
		Properties: fmt.Appendf(nil, `{"a":%d}`, rapid.Int().Draw(r, "property")),
		Network:    rapid.SampledFrom([]string{"", "tesla", "ionity"}).Draw(r, "network"),
		Digest:     rapid.Uint64().Draw(r, "digest"), FirstSeenAt: c.At, ChangedAt: c.At,
		Lifetime:    time.Duration(rapid.IntRange(0, 200).Draw(r, "lifetime")) * time.Minute,
		AbsentSince: int64(rapid.IntRange(0, 2).Draw(r, "absent")),
	}
	if c.Snapshot == nil || rapid.Bool().Draw(r, "seen by itself") {
		e.SeenAt = c.At
	}
	if rapid.IntRange(0, 2).Draw(r, "end") == 0 {
		e.EndsAt = c.At.Truncate(time.Second).Add(time.Duration(rapid.IntRange(-60, 12_000).Draw(r, "seconds to the end")) * time.Second)
	}
	if rapid.IntRange(0, 2).Draw(r, "line") == 0 {
		e.Line = longLine()[:rapid.IntRange(2, mapdata.MaxLine).Draw(r, "positions")]
	}
	return e
}
