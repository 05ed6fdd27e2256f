package pull

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/provider/trial"
	"wayside/internal/safehttp"
)

// poll fetches a feed once and records what came of it. A poll that this node broke off itself, or for which it lacks
// something, leaves no trace in the feed: the first gives its lease back, the second tries again when the lease is over.
// Nor does one whose feed was edited or claimed by another node meanwhile: the store refuses its outcome.
func (p *Poller) poll(ctx context.Context, j *job) {
	began := p.now()
	err := p.attempt(ctx, j, &began)
	var failed *trial.Failure
	if ctx.Err() == nil && errors.As(err, &failed) {
		err = p.recordFailure(ctx, j, failed, began)
	}
	switch {
	case err == nil:
	case errors.Is(err, mapdata.ErrFenced), errors.Is(context.Cause(ctx), errEdited):
		p.Log.Info("the outcome of a poll is dropped: the feed was edited, or claimed by another node", "feed", j.feed.ID.String())
	case errors.Is(context.Cause(ctx), errLeaseLost):
		p.Log.Warn("a poll lost its lease", "feed", j.feed.ID.String())
	case ctx.Err() != nil:
		p.release(ctx, j)
	case errors.Is(err, mapdata.ErrNotFound):
		p.Log.Info("a feed was deleted while it was polled", "feed", j.feed.ID.String())
	default:
		p.Log.Error("a poll could not be completed; it is tried again in a minute", "feed", j.feed.ID.String(), "error", err)
	}
}

// attempt fetches and ingests. began is set to when the feed's turn came.
func (p *Poller) attempt(ctx context.Context, j *job, began *time.Time) error {
	u, err := safehttp.CheckURL(j.feed.PullURL)
	if err != nil {
		return &trial.Failure{
			Outcome: mapdata.OutcomeBlockedAddress, Reason: safehttp.ReasonOf(err), Connected: true,
			Advice: "pull_url is no longer accepted: it " + err.Error() + ".",
		}
	}
	request := safehttp.Request{
		URL: u, Started: func() { *began = p.now() },
		// After its host: a fetch that waits for a host that hangs keeps the account's feeds on other hosts from nothing (D6.12).
		Admit: func(ctx context.Context) (func(), error) { return p.fetches.enter(ctx, j.feed.Owner) },
	}
	if len(j.feed.PullAuthSealed) > 0 {
		if request.AuthHeader, err = p.Unseal(&j.feed); err != nil {
			return fmt.Errorf("open auth header: %w", err)
		}
	}
	got, err := p.spool.Fetch(ctx, p.Web, request)
	if err != nil {
		return trial.FetchFailure(err)
	}
	fetched := p.now()
	p.network.noteConnected(fetched)
	err = p.ingest(ctx, j, got, *began, fetched)
	return errors.Join(trial.DecodeFailure(err, got.Size), got.Close())
}

// ingest brings a body in, when its turn comes.
func (p *Poller) ingest(ctx context.Context, j *job, got *trial.Body, began, fetched time.Time) error {
	leave, err := p.parses.enter(ctx, j.feed.Owner)
	if err != nil {
		return err
	}
	defer leave()
	turn := p.small
	if got.Large() {
		turn = p.large
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err = p.Ingest.Snapshot(ctx, j.feed.ID, ingest.Snapshot{
		Open: got.Open, Hash: got.Hash, At: fetched, Lease: j.lease,
		Finish: func(r ingest.Result) (ingest.Record, error) {
			return succeeded(&j.feed, &r, got.Size, began, fetched), nil
		},
	})
	if err != nil {
		return err
	}
	p.Observe(mapdata.OutcomeOK, fetched.Sub(began))
	p.lines.succeeded(&j.feed, fetched)
	return nil
}

// succeeded is what is recorded of a good poll.
func succeeded(f *mapdata.Feed, r *ingest.Result, size int64, began, fetched time.Time) ingest.Record {
	return ingest.Record{
		Polling: mapdata.Polling{
			NextFetchAt: nextSlot(f.ID, f.PullInterval, fetched), LastFetchedAt: fetched, LastOutcome: mapdata.OutcomeOK,
			LastRows: r.Rows, LastRejected: r.Report.Rejected, Shrank: r.Shrank, BodyHash: r.BodyHash,
		},
		Attempt: mapdata.Attempt{
			At: fetched, Duration: fetched.Sub(began), OK: true, Outcome: mapdata.OutcomeOK,
			Rows: r.Rows, Rejected: r.Report.Rejected, Bytes: size,
		},
	}
}

// recordFailure stores a failed poll. It counts, unless this node's own network is at fault (D6.11).
func (p *Poller) recordFailure(ctx context.Context, j *job, failed *trial.Failure, began time.Time) error {
	now := p.now()
	ours := false
	if failed.Connected {
		p.network.noteConnected(now)
	} else {
		ours = p.network.noteUnreachable(j.feed.ID, j.host, now)
	}
	record := afterFailure(&j.feed, failed, !ours, began, now)
	record.Lease = j.lease
	if err := p.Store.PollFailed(ctx, record); err != nil {
		return fmt.Errorf("record failed poll: %w", err)
	}
	p.Observe(failed.Outcome, now.Sub(began))
	p.lines.failed(&j.feed, failed, record, ours, now)
	p.StoreChanged.Notify()
	p.MailQueued.Notify()
	return nil
}

// afterFailure is what is recorded of a failed poll; counts says whether it brings the feed closer to deactivation. What
// the last good snapshot left stays.
func afterFailure(f *mapdata.Feed, failed *trial.Failure, counts bool, began, now time.Time) *mapdata.PollFailed {
	polling := f.Polling
	polling.LastFetchedAt, polling.LastOutcome, polling.LastError = now, failed.Outcome, failed.Advice
	if counts {
		polling.ConsecutiveFailures++
	}
	record := &mapdata.PollFailed{
		Feed: f.ID, Active: polling.ConsecutiveFailures < mapdata.MaxFailures,
		Attempt: mapdata.Attempt{
			At: now, Duration: now.Sub(began), Outcome: failed.Outcome, Bytes: failed.Bytes, Status: failed.Status, Reason: failed.Reason,
		},
	}
	if record.Active {
		polling.NextFetchAt = now.Add(backoff(f.PullInterval, polling.ConsecutiveFailures))
	} else {
		polling.NextFetchAt = time.Time{}
		email := emailTo(f, mapdata.EmailDeactivated, now)
		email.Data["outcome"], email.Data["error"] = string(failed.Outcome), failed.Advice
		record.Emails = []mapdata.Email{email}
		record.Audit = []mapdata.AuditEntry{{
			At: now, Via: mapdata.ViaService, Action: mapdata.AuditFeedDeactivate, Subject: f.ID.String(), Owner: f.Owner,
			Note: string(failed.Outcome),
		}}
	}
	record.Polling = polling
	return record
}

func emailTo(f *mapdata.Feed, kind mapdata.EmailKind, now time.Time) mapdata.Email {
	return mapdata.Email{
		Account: f.Owner, Kind: kind, At: now, Due: now,
		Data: map[string]string{"feed_name": f.Name, "feed_id": f.ID.String()},
	}
}
