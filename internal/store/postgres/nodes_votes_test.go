package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func liveBallot(id string, account mapdata.AccountID, v mapdata.Vote, at time.Time) *mapdata.Ballot {
	return &mapdata.Ballot{
		Source: mapdata.Incidents, ExternalID: id, Account: account, Vote: v, At: at,
		Live: &mapdata.Entity{
			ExternalID: id, Point: geo.Point{Lat: 52, Lng: 4}, Properties: []byte(`{}`), FirstSeenAt: at, SeenAt: at, ChangedAt: at,
			Lifetime: 5 * time.Minute,
		},
	}
}

func votesOfOne(n *nodes) {
	feed, a := n.feedWith("a", 0), n.driver()
	for round := range 5 {
		n.concurrently(12, func(i int, db *DB) {
			v := []mapdata.Vote{mapdata.Confirm, mapdata.Dispute}[i/3%2]
			at := start.Add(time.Duration(round) * time.Minute)
			if _, err := db.CastVote(context.Background(), &mapdata.Ballot{Source: feed.SourceID(), ExternalID: "a", Account: a, Vote: v, At: at}); err != nil {
				n.Errorf("vote on an entity: %v", err)
			}
			if _, err := db.CastVote(context.Background(), liveBallot("a", a, v, at)); err != nil {
				n.Errorf("vote on a live incident: %v", err)
			}
		})
		for _, source := range []mapdata.SourceID{feed.SourceID(), mapdata.Incidents} {
			n.agrees(source, 1)
		}
	}
}

// agrees compares the tally on "a" with the standing votes.
func (n *nodes) agrees(source mapdata.SourceID, votes int) {
	n.Helper()
	if got := n.number("SELECT count(*) FROM votes WHERE source = $1", string(source)); got != votes {
		n.Errorf("%d votes stand on %s, want %d", got, source, votes)
	}
	for _, c := range []struct {
		column string
		vote   mapdata.Vote
	}{{"confirms", mapdata.Confirm}, {"disputes", mapdata.Dispute}} {
		stand := n.number("SELECT count(*) FROM votes WHERE source = $1 AND vote = $2", string(source), c.vote)
		if got := n.number("SELECT sum("+c.column+") FROM voted WHERE source = $1", string(source)); got != stand {
			n.Errorf("%s: %d %s are counted, %d stand", source, got, c.column, stand)
		}
	}
}

func votesOfMany(n *nodes) {
	feed := n.feedWith("a", 0)
	drivers := make([]mapdata.AccountID, 30)
	for i := range drivers {
		drivers[i] = n.driver()
	}
	n.concurrently(len(drivers), func(i int, db *DB) {
		b := &mapdata.Ballot{Source: feed.SourceID(), ExternalID: "a", Account: drivers[i], Vote: mapdata.Dispute, At: start}
		if _, err := db.CastVote(context.Background(), b); err != nil {
			n.Errorf("CastVote: %v", err)
		}
	})
	n.agrees(feed.SourceID(), len(drivers))
}

func firstVotes(n *nodes) {
	drivers := make([]mapdata.AccountID, 12)
	for i := range drivers {
		drivers[i] = n.driver()
	}
	for round := range 5 {
		id := fmt.Sprint("live ", round)
		var first count
		n.concurrently(len(drivers), func(i int, db *DB) {
			v, err := db.CastVote(context.Background(), liveBallot(id, drivers[i], mapdata.Confirm, start))
			if err != nil {
				n.Errorf("CastVote: %v", err)
			}
			if v.Tally.Confirms == 1 {
				first.add()
			}
		})
		if first.n != 1 {
			n.Errorf("%d votes were reported as the first", first.n)
		}
		if got := n.number("SELECT confirms FROM voted WHERE external_id = $1", id); got != len(drivers) {
			n.Errorf("%d confirms, want %d", got, len(drivers))
		}
	}
}

// votesWhileSevered checks an account that changes its vote while another node severs the old one from it.
func votesWhileSevered(n *nodes) {
	a := n.driver()
	_, err := n.all[0].CastVote(n.Context(), liveBallot("a", a, mapdata.Confirm, start))
	n.must(err)
	severing, err := n.all[1].pool.Begin(n.Context())
	n.must(err)
	_, err = severing.Exec(n.Context(), "UPDATE votes SET account = NULL WHERE account = $1", a[:])
	n.must(err)
	cast := make(chan error, 1)
	go func() {
		_, err := n.all[2].CastVote(context.Background(), liveBallot("a", a, mapdata.Dispute, start))
		cast <- err
	}()
	n.untilOneWaits()
	n.must(severing.Commit(n.Context()))
	n.must(<-cast)
	n.agrees(mapdata.Incidents, 2)
}

// untilOneWaits returns once a session waits for a lock.
func (n *nodes) untilOneWaits() {
	n.Helper()
	deadline := time.After(time.Minute)
	for n.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0 {
		select {
		case <-deadline:
			n.Fatal("no session waits for a lock")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func votesWhileDeleted(n *nodes) {
	for range 10 {
		a := n.driver()
		n.concurrently(6, func(i int, db *DB) {
			if i == 0 {
				if _, err := db.pool.Exec(context.Background(), "DELETE FROM accounts WHERE id = $1", a[:]); err != nil {
					n.Error(err)
				}
				return
			}
			_, err := db.CastVote(context.Background(), liveBallot("a", a, mapdata.Confirm, start))
			if err != nil && !errors.Is(err, mapdata.ErrNotFound) && !errors.Is(err, mapdata.ErrUnavailable) {
				n.Errorf("CastVote = %v", err)
			}
		})
	}
	counted, stand := n.number("SELECT COALESCE(sum(confirms), 0) FROM voted"), n.number("SELECT count(*) FROM votes")
	if counted != stand {
		n.Errorf("%d votes are counted, %d stand", counted, stand)
	}
	if left := n.number("SELECT count(*) FROM votes WHERE account IS NOT NULL"); left != 0 {
		n.Errorf("%d votes still belong to a deleted account", left)
	}
}

func revisionsOfVotes(n *nodes) {
	a, feed := n.driver(), n.feedWith("a", 0)
	before, err := n.all[0].State(n.Context())
	n.must(err)
	const votes = 30
	n.concurrently(votes, func(i int, db *DB) {
		b := &mapdata.Ballot{Source: feed.SourceID(), ExternalID: "a", Account: a, Vote: mapdata.Confirm, At: start.Add(time.Duration(i) * time.Second)}
		if _, err := db.CastVote(context.Background(), b); err != nil {
			n.Error(err)
		}
	})
	changes, err := n.all[1].Changes(n.Context(), before.Revision, 1000)
	n.must(err)
	if len(changes) != votes {
		n.Fatalf("%d changes, want %d", len(changes), votes)
	}
	for i := range changes {
		if c := &changes[i]; c.Revision != before.Revision+int64(i)+1 || len(c.Tallies) != 1 || len(c.Entities)+len(c.Gone) != 0 {
			n.Errorf("change %d is %+v, want the next revision with one tally only", i, c)
		}
	}
}
