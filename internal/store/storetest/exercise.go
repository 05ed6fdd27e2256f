package storetest

import (
	"context"
	"errors"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// Exercise runs each script that is called on every request, push, poll, vote or sign-in, and all of Prune, in an empty
// database. With a Recording it serves tests of query plans.
func Exercise(ctx context.Context, s *store.Scripts) error {
	e := &exercise{s: s, owner: mapdata.AccountID{1}, feed: mapdata.FeedID{2}, deleted: mapdata.FeedID{3}}
	for _, step := range []func(context.Context) error{e.register, e.change, e.vote, e.poll, e.signIn, e.act, e.pair, e.takeDown} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	const ages = 1000 * 24 * time.Hour
	return errors.Join(
		s.Forget(ctx, e.feed, []string{"a"}, at(ages)),
		s.DeleteFeed(ctx, e.deleted, mapdata.AuditEntry{At: start}),
		s.Prune(ctx, at(ages)),
	)
}

type exercise struct {
	s             *store.Scripts
	owner         mapdata.AccountID
	feed, deleted mapdata.FeedID
}

func (e *exercise) register(ctx context.Context) error {
	if err := e.s.CreateAccount(ctx, &mapdata.Account{ID: e.owner, Email: "a@example.org", CreatedAt: start}); err != nil {
		return err
	}
	for _, id := range []mapdata.FeedID{e.feed, e.deleted} {
		err := e.s.CreateFeed(ctx, &mapdata.Feed{
			ID: id, Owner: e.owner, Layer: mapdata.Layer{Slug: "x"}, Direction: mapdata.Pull, Active: true, CreatedAt: start, UpdatedAt: start,
			Polling: mapdata.Polling{NextFetchAt: start},
		}, 2)
		if err != nil {
			return err
		}
	}
	_, err := e.s.UpdateFeed(ctx, e.deleted, func(*mapdata.Feed) (mapdata.Side, error) {
		return mapdata.Side{Emails: []mapdata.Email{{Account: e.owner, Kind: mapdata.EmailRejected, At: start}}}, nil
	})
	return err
}

func (e *exercise) change(ctx context.Context) error {
	return e.s.Apply(ctx, &mapdata.Change{
		Feed: e.feed, At: start, Upserts: []mapdata.Entity{entity(&mapdata.Feed{ID: e.feed}, "a", start)},
		Touched: []string{"b"}, Absent: []string{"c"}, Retired: []string{"d"},
		Snapshot: &mapdata.SnapshotTaken{Snapshot: 1}, Attempt: mapdata.Attempt{At: start, OK: true},
		Rejections: []mapdata.Rejection{{Code: "x", Rows: 1}},
	})
}

func (e *exercise) vote(ctx context.Context) error {
	b := mapdata.Ballot{Source: e.feed.SourceID(), ExternalID: "a", Account: e.owner, At: start}
	for _, b.Vote = range []mapdata.Vote{mapdata.Dispute, mapdata.Confirm, mapdata.NoVote} {
		if _, err := e.s.CastVote(ctx, &b); err != nil {
			return err
		}
	}
	return nil
}

// act casts the same vote by two accounts that are a day old, so that they are compared.
func (e *exercise) act(ctx context.Context) error {
	other := &mapdata.Account{ID: mapdata.AccountID{4}, Email: "b@example.org", CreatedAt: start}
	err := errors.Join(
		e.s.CreateAccount(ctx, other),
		e.s.CreateSession(ctx, &mapdata.Session{ID: "other", TokenHash: []byte("other"), Account: other.ID, CreatedAt: start, SeenAt: start}, ""),
	)
	for _, id := range []mapdata.AccountID{e.owner, other.ID} {
		_, cast := e.s.CastVote(ctx, weighed(liveBallot("live", &mapdata.Account{ID: id}, mapdata.Dispute, at(trustAfter))))
		err = errors.Join(err, cast)
	}
	return err
}

func (e *exercise) takeDown(ctx context.Context) error {
	p := &mapdata.PinTakedown{Source: e.feed.SourceID(), ExternalID: "a", At: start, Hiding: mapdata.Hiding{Until: mapdata.ForGood()}}
	_, err := e.s.HidePin(ctx, p)
	complaint := &mapdata.Complaint{ID: "1", Source: p.Source, Account: e.owner, At: start}
	return errors.Join(
		err, e.s.ShowPin(ctx, p), e.s.Complain(ctx, complaint, start, 1),
		e.s.CloseComplaint(ctx, "1", start, func(mapdata.SourceID) mapdata.AuditEntry { return mapdata.AuditEntry{At: start} }),
		e.s.SuspendAccount(ctx, e.owner, mapdata.Suspension{At: start, Reason: "x"}, mapdata.Side{}), e.s.ResumeAccount(ctx, e.owner, mapdata.Side{}),
	)
}

func (e *exercise) poll(ctx context.Context) error {
	_, err := e.s.Claim(ctx, "node", start, at(time.Minute), 1)
	failed := failedPoll(&mapdata.Feed{ID: e.deleted}, start)
	failed.Lease.Node = "node"
	_, emails := e.s.DueEmails(ctx, start, at(time.Minute), 1)
	return errors.Join(err, emails, e.s.PollFailed(ctx, failed), e.s.Release(ctx, e.feed, mapdata.Lease{Node: "node"}))
}

func (e *exercise) signIn(ctx context.Context) error {
	signIn := &mapdata.SignIn{TokenHash: []byte("t"), CodeHash: []byte("c"), Email: "a@example.org", CreatedAt: start, ExpiresAt: at(time.Hour)}
	_, err := e.s.CreateSignIn(ctx, signIn, nil, start, 2)
	_, wrong := e.s.TakeSignInByCode(ctx, signIn.Email, []byte("wrong"), browserHash, start, 5)
	_, taken := e.s.TakeSignIn(ctx, signIn.TokenHash, start)
	session := e.s.CreateSession(ctx, &mapdata.Session{ID: "s", TokenHash: []byte("s"), Account: e.owner, CreatedAt: start, SeenAt: start}, "")
	_, _, found := e.s.Session(ctx, []byte("s"))
	_, listed := e.s.Sessions(ctx, e.owner)
	_, _, token := e.s.APIToken(ctx, []byte("none"))
	return errors.Join(err, unlessNotFound(wrong), taken, session, found, listed, unlessNotFound(token))
}

func (e *exercise) pair(ctx context.Context) error {
	err := e.s.CreatePairing(ctx, &mapdata.Pairing{
		DeviceHash: []byte("d"), CodeHash: []byte("c"), Name: "AB", State: mapdata.PairingWaiting, CreatedAt: start, ExpiresAt: at(time.Hour),
	})
	_, found := e.s.Pairing(ctx, []byte("d"))
	_, wrong := e.s.PairingByCode(ctx, "AB", []byte("wrong"), start, 5)
	return errors.Join(err, found, unlessNotFound(wrong))
}

func unlessNotFound(err error) error {
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}
