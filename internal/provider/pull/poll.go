package pull

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// poll fetches a feed once and records what came of it. A poll that this node broke off itself, or for which it lacks
// something, leaves no trace in the feed: the first gives its lease back, the second tries again when the lease is over.
// Nor does one whose feed was edited or claimed by another node meanwhile: the store refuses its outcome.
func (p *Poller) poll(ctx context.Context, j *job) {
	began := p.now()
	err := p.attempt(ctx, j, &began)
	var failed *failure
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

// failure is a poll that failed for a reason that counts (D6.7).
type failure struct {
	outcome   mapdata.Outcome
	advice    string // for the owner (D6.8)
	reason    mapdata.Reason
	status    int // of the answer, when outcome is http_status
	bytes     int64
	connected bool
}

func (f *failure) Error() string { return string(f.outcome) }

// attempt fetches and ingests. began is set to when the feed's turn came.
func (p *Poller) attempt(ctx context.Context, j *job, began *time.Time) error {
	u, err := safehttp.CheckURL(j.feed.PullURL)
	if err != nil {
		return &failure{
			outcome: mapdata.OutcomeBlockedAddress, reason: safehttp.ReasonOf(err), connected: true,
			advice: "pull_url is no longer accepted: it " + err.Error() + ".",
		}
	}
	request := safehttp.Request{URL: u, Started: func() { *began = p.now() }}
	if len(j.feed.PullAuthSealed) > 0 {
		if request.AuthHeader, err = p.Unseal(&j.feed); err != nil {
			return fmt.Errorf("open auth header: %w", err)
		}
	}
	got, err := p.spool.fetch(ctx, p.Web, request)
	if err != nil {
		return unfetched(err)
	}
	fetched := p.now()
	p.network.met(fetched)
	err = p.ingest(ctx, j, got, *began, fetched)
	return errors.Join(unacceptable(err, got.size), got.close())
}

// unfetched turns what a fetch says of the provider into an outcome; what it says of this machine stays as it is.
func unfetched(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return &failure{outcome: failed.Outcome, reason: failed.Reason, advice: failed.Advice, status: failed.Status, connected: failed.Connected}
	}
	return err
}

// ingest brings a body in, when its turn comes.
func (p *Poller) ingest(ctx context.Context, j *job, got *body, began, fetched time.Time) error {
	turn := p.small
	if got.large() {
		turn = p.large
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	letters := 0
	_, err := p.Ingest.Snapshot(ctx, j.feed.ID, ingest.Snapshot{
		Open: got.open, Hash: got.hash, At: fetched, Lease: j.lease,
		Finish: func(r ingest.Result) (ingest.Record, error) {
			record, err := p.succeeded(ctx, &j.feed, &r, got.size, began, fetched)
			letters = len(record.Letters)
			return record, err
		},
	})
	if err != nil {
		return err
	}
	p.Observe(mapdata.OutcomeOK, fetched.Sub(began))
	if letters > 0 {
		p.MailQueued.Notify()
	}
	return nil
}

// unacceptable turns what ingest says of a whole body into an outcome; what it says of the store stays as it is.
func unacceptable(err error, size int64) error {
	failed := &failure{bytes: size, connected: true}
	switch {
	case errors.Is(err, ingest.ErrNotArray):
		failed.outcome = mapdata.OutcomeNotAnArray
		failed.advice = "The body is JSON, but no array. Publish the rows as a bare array, with nothing around it."
	case errors.Is(err, ingest.ErrTooManyRows):
		failed.outcome, failed.reason = mapdata.OutcomeTooLarge, mapdata.ReasonRows
		failed.advice = fmt.Sprintf("The array has more than %d rows. Publish fewer, or divide them among several feeds.", ingest.MaxSnapshotRows)
	case errors.Is(err, mapdata.ErrMalformed):
		failed.outcome = mapdata.OutcomeParseError
		failed.advice = "The body is not one JSON text in UTF-8. Check it with wayside validate or any JSON parser."
	default:
		return err
	}
	return failed
}

// succeeded is what is recorded of a good poll.
func (p *Poller) succeeded(
	ctx context.Context, f *mapdata.Feed, r *ingest.Result, size int64, began, fetched time.Time,
) (ingest.Record, error) {
	record := ingest.Record{
		Polling: mapdata.Polling{
			NextFetchAt: nextSlot(f.ID, f.PullInterval, fetched), LastFetchedAt: fetched, LastOutcome: mapdata.OutcomeOK,
			LastRows: r.Rows, LastRejected: r.Report.Rejected, Shrank: r.Shrank, BodyHash: r.BodyHash,
		},
		Attempt: mapdata.Attempt{
			At: fetched, Duration: fetched.Sub(began), OK: true, Outcome: mapdata.OutcomeOK,
			Rows: r.Rows, Rejected: r.Report.Rejected, Bytes: size,
		},
	}
	if !r.Shrank {
		return record, nil
	}
	timeline, err := p.Store.Timeline(ctx, f.ID, fetched.Add(-shrinkMailInterval), mapdata.TimelineLength)
	if err != nil {
		return ingest.Record{}, fmt.Errorf("read earlier polls: %w", err)
	}
	if anyShrank(timeline) {
		return record, nil // the owner was told then
	}
	letter := letterTo(f, mapdata.LetterShrank, fetched)
	letter.Data["rows"], letter.Data["rows_before"] = strconv.Itoa(r.Rows), strconv.Itoa(r.RowsBefore)
	record.Letters = []mapdata.Letter{letter}
	return record, nil
}

// shrinkMailInterval is how long the owner of a feed that shrinks again and again gets no further e-mail about it (D6.9).
// Of a feed with many polls only as many are remembered as its timeline has.
const shrinkMailInterval = 24 * time.Hour

// anyShrank says whether one of the good polls of a timeline, which has the newest first, brought fewer than half the rows
// of the good one before it.
func anyShrank(timeline []mapdata.Attempt) bool {
	next := -1 // rows of the good poll after this one; -1: there is none
	for i := range timeline {
		if !timeline[i].OK {
			continue
		}
		if next >= 0 && 2*next < timeline[i].Rows {
			return true
		}
		next = timeline[i].Rows
	}
	return false
}

// recordFailure stores a failed poll. It counts, unless this node's own network is at fault (D6.11).
func (p *Poller) recordFailure(ctx context.Context, j *job, failed *failure, began time.Time) error {
	now := p.now()
	ours := false
	if failed.connected {
		p.network.met(now)
	} else {
		ours = p.network.missed(j.feed.ID, j.host, now)
	}
	record := afterFailure(&j.feed, failed, !ours, began, now)
	record.Lease = j.lease
	if err := p.Store.PollFailed(ctx, record); err != nil {
		return fmt.Errorf("record failed poll: %w", err)
	}
	p.Observe(failed.outcome, now.Sub(began))
	p.StoreChanged.Notify()
	p.MailQueued.Notify()
	return nil
}

// afterFailure is what is recorded of a failed poll; counts says whether it brings the feed closer to deactivation. What
// the last good snapshot left stays.
func afterFailure(f *mapdata.Feed, failed *failure, counts bool, began, now time.Time) *mapdata.PollFailed {
	polling := f.Polling
	polling.LastFetchedAt, polling.LastOutcome, polling.LastError = now, failed.outcome, failed.advice
	if counts {
		polling.ConsecutiveFailures++
	}
	record := &mapdata.PollFailed{
		Feed: f.ID, Active: polling.ConsecutiveFailures < deactivateAfter,
		Attempt: mapdata.Attempt{
			At: now, Duration: now.Sub(began), Outcome: failed.outcome, Bytes: failed.bytes, Status: failed.status, Reason: failed.reason,
		},
	}
	if record.Active {
		polling.NextFetchAt = now.Add(backoff(f.PullInterval, polling.ConsecutiveFailures))
	} else {
		polling.NextFetchAt = time.Time{}
		letter := letterTo(f, mapdata.LetterDeactivated, now)
		letter.Data["outcome"], letter.Data["error"] = string(failed.outcome), failed.advice
		record.Letters = []mapdata.Letter{letter}
		record.Audit = []mapdata.AuditEntry{{
			At: now, Via: mapdata.ViaService, Action: mapdata.AuditFeedDeactivate, Subject: f.ID.String(), Owner: f.Owner,
			Note: string(failed.outcome),
		}}
	}
	record.Polling = polling
	return record
}

func letterTo(f *mapdata.Feed, kind mapdata.LetterKind, now time.Time) mapdata.Letter {
	return mapdata.Letter{
		Account: f.Owner, Kind: kind, At: now, Due: now,
		Data: map[string]string{"feed_name": f.Name, "feed_id": f.ID.String()},
	}
}
