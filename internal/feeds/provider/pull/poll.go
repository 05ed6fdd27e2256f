package pull

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// poll fetches a feed once and records the result. A poll that this node cancelled itself, or for which it lacks a resource, leaves no
// trace in the feed: a cancelled one releases its lease, and the other is tried again when the lease is over. A poll whose feed was edited
// or claimed by another node in the meantime leaves no trace either, because the store refuses its outcome.
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

// attempt fetches and ingests. It sets began to the time of the feed's turn.
func (p *Poller) attempt(ctx context.Context, j *job, began *time.Time) error {
	target, err := p.target(j, began)
	if err != nil {
		return err
	}
	// If the server has nothing new, the standing documents are judged for the time before the request.
	asked := p.now()
	standing := j.standing(asked)
	if standing != nil {
		target.Validators = j.feed.Polling.Validators.Documents
	}
	got, err := p.spool.Fetch(ctx, p.Web, target)
	if err != nil {
		return trial.FetchFailure(err)
	}
	fetched := p.now()
	p.network.noteConnected(fetched)
	in := incoming{documents: got, began: *began, fetched: fetched, at: fetched}
	if got.Same {
		in.at, in.hash = asked, standing
	} else {
		in.hash = got.Hash()
	}
	err = p.ingest(ctx, j, &in)
	return errors.Join(trial.DecodeFailure(err, got.Size, got.Bridge.FormatName()), got.Close())
}

// target returns the requests of a poll of the feed.
func (p *Poller) target(j *job, began *time.Time) (*trial.Target, error) {
	t := &trial.Target{
		Bridge: j.feed.Bridge, Started: func() { *began = p.now() },
		// After the host's turn, so that a fetch that waits for a host that hangs takes no place from the account's feeds on other hosts
		// (D6.12).
		Admit: func(ctx context.Context) (func(), error) { return p.fetches.enter(ctx, j.feed.Owner) },
		Turn:  func(ctx context.Context, b *trial.Body) (func(), error) { return p.turn(ctx, j, b.Slow()) },
	}
	for _, address := range []struct {
		name, text string
		to         **safehttp.URL
	}{{"pull_url", j.feed.PullURL, &t.URL}, {"status_url", j.feed.Bridge.StatusURL, &t.Status}} {
		if address.text == "" && address.to == &t.Status {
			continue
		}
		u, err := safehttp.CheckURL(address.text)
		if err != nil {
			return nil, &trial.Failure{
				Outcome: mapdata.OutcomeBlockedAddress, Reason: safehttp.ReasonOf(err), Connected: true,
				Advice: address.name + " is no longer accepted: it " + err.Error() + ".",
			}
		}
		*address.to = u
	}
	if len(j.feed.PullAuthSealed) > 0 {
		var err error
		if t.AuthHeader, err = p.Unseal(&j.feed); err != nil {
			return nil, fmt.Errorf("open auth header: %w", err)
		}
	}
	return t, nil
}

// standing returns the hash of the documents of the last good poll, if the server may answer that they have not changed: no start, end or
// expiry has passed since, and no edit was made (D17.12). nil: they must be read.
func (j *job) standing(at time.Time) []byte {
	p := &j.feed.Polling
	if !j.feed.Bridged() || len(p.Validators.Documents) == 0 || p.Validators.Generation != j.lease.Generation {
		return nil
	}
	hash, ok := ingest.Standing(p.BodyHash, j.feed.SnapshotAt, at)
	if !ok {
		return nil
	}
	return hash
}

// turn waits until documents of the feed's owner may be read.
func (p *Poller) turn(ctx context.Context, j *job, large bool) (leave func(), err error) {
	leaveOwner, err := p.parses.enter(ctx, j.feed.Owner)
	if err != nil {
		return nil, err
	}
	turn := p.small
	if large {
		turn = p.Large
	}
	select {
	case turn <- struct{}{}:
		return func() { <-turn; leaveOwner() }, nil
	case <-ctx.Done():
		leaveOwner()
		return nil, ctx.Err()
	}
}

// incoming is the result of a poll's fetch.
type incoming struct {
	documents      *trial.Documents
	hash           []byte
	began, fetched time.Time
	at             time.Time // for which its items are judged
}

// errUnread means that unchanged documents must be read after all, because another change of the feed came between the request and its
// answer.
var errUnread = errors.New("the feed changed while the server was asked for news; the next poll reads its documents")

// ingest stores documents, when their turn comes.
func (p *Poller) ingest(ctx context.Context, j *job, in *incoming) error {
	leave, err := p.turn(ctx, j, in.documents.Large())
	if err != nil {
		return err
	}
	defer leave()
	var reading trial.Reading
	snapshot := ingest.Snapshot{
		Hash: in.hash, At: in.at, Lease: j.lease,
		Finish: func(r ingest.Result) (ingest.Record, error) { return succeeded(j, in, &r, &reading), nil },
	}
	switch {
	case in.documents.Same:
		snapshot.Source = func(context.Context, func([]byte, ingest.Beside) error) (time.Time, error) {
			return time.Time{}, errUnread
		}
	case j.feed.Bridged():
		snapshot.Source = in.documents.Source(in.at, &reading)
	default:
		snapshot.Open = in.documents.Open
	}
	if _, err = p.Ingest.Snapshot(ctx, j.feed.ID, snapshot); err != nil {
		return err
	}
	p.Observe(mapdata.OutcomeOK, in.fetched.Sub(in.began))
	if reading.Done {
		p.ObserveSkips(j.feed.Bridge.Format, reading.Skipped())
	}
	p.lines.succeeded(&j.feed, in.fetched)
	return nil
}

// succeeded returns the record of a good poll.
func succeeded(j *job, in *incoming, r *ingest.Result, reading *trial.Reading) ingest.Record {
	f := &j.feed
	skips, shrank := f.Polling.Skips, r.Shrank
	if reading.Done {
		skips = reading.Skipped()
		_, lost := mapdata.MostLost(f.Polling.Skips, skips, r.RowsBefore)
		shrank = shrank || lost
	}
	record := ingest.Record{
		Polling: mapdata.Polling{
			NextFetchAt: nextSlot(f.ID, f.PullInterval, in.fetched), LastFetchedAt: in.fetched, LastOutcome: mapdata.OutcomeOK,
			LastRows: r.Rows, LastRejected: r.Report.Rejected, Shrank: shrank, BodyHash: r.BodyHash,
		},
		Attempt: mapdata.Attempt{
			At: in.fetched, Duration: in.fetched.Sub(in.began), OK: true, Outcome: mapdata.OutcomeOK,
			Rows: r.Rows, Rejected: r.Report.Rejected, Bytes: in.documents.Size,
		},
	}
	if f.Bridged() {
		p := &record.Polling
		p.Skips, p.LastSkipped = skips, mapdata.SkippedItems(skips)
		p.Validators = mapdata.Validators{Generation: j.lease.Generation, Documents: in.documents.Validators}
		record.Attempt.Skipped = p.LastSkipped
	}
	return record
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

// afterFailure returns the record of a failed poll; counts is true if it brings the feed closer to deactivation. The results of the last
// good snapshot are retained.
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
		wait := backoff(f.PullInterval, polling.ConsecutiveFailures)
		if f.Bridged() {
			wait = max(wait, min(failed.RetryAfter, mapdata.MaxRetryAfter))
		}
		polling.NextFetchAt = now.Add(wait)
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
