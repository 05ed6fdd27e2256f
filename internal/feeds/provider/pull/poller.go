package pull

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

// Ingester stores good snapshots, as *ingest.Ingester does. Tests of schedules use a fake.
type Ingester interface {
	Snapshot(ctx context.Context, feed mapdata.FeedID, s ingest.Snapshot) (ingest.Report, error)
}

// Options are the parameters of a Poller.
type Options struct {
	Store  Store
	Ingest Ingester
	Web    trial.Fetcher
	Now    func() time.Time
	Log    *slog.Logger
	Node   string // names this process among those that share the store
	Spool  string // directory for large bodies; empty: the system's temporary directory
	// Unseal decrypts the auth header of a feed that has one, as «Name: value».
	Unseal  func(feed *mapdata.Feed) (string, error)
	FeedDue signal.FeedDue // wakes the poller before its schedule
	// StoreChanged is notified after a failed poll was stored; Ingest notifies after a good one.
	StoreChanged signal.StoreChanged
	// MailQueued is notified after a poll that may have stored an e-mail.
	MailQueued signal.MailQueued
	// Large is the turn of large documents, which polls share with checks in the same process; nil: the poller creates its own.
	Large chan struct{}
	// Observe is called after each recorded poll with the duration of its fetch, from many goroutines; may be nil.
	Observe func(outcome mapdata.Outcome, took time.Duration)
	// ObserveSkips is called after each poll that read documents in another format, with the skipped items, from many goroutines; may be
	// nil.
	ObserveSkips func(format string, skips []mapdata.Skip)
}

// Limits of a poller.
const (
	maxClaimInterval = time.Second     // the longest time between two claims of due feeds
	minClaimInterval = time.Second / 4 // the shortest
	lease            = time.Minute     // of a feed; a poll that lasts longer renews it when the feed is claimed again
	claimBatch       = 256             // feeds of one claim
	startBatch       = 256             // polls that are started before a pause
	startPause       = time.Second / 8 // after startBatch polls
	maxHeld          = 8192            // feeds that are being polled or wait for their turn
	maxHeldPerHost   = 128             // those among them on one host; further ones are claimed again when their lease is over
	parseLarge       = 1               // large bodies at a time: two that consist of new rows would hold more than D6.6 allows
	parseSmall       = 8               // small ones, which large ones must not delay
	fetchesPerOwner  = 16              // concurrent fetches for the feeds of one account, of the 256 connections of a node
	parsesPerOwner   = 1               // bodies of one account that are parsed or wait for that
	releaseTimeout   = 5 * time.Second // of releasing a lease at the end
)

// Poller polls due feeds. One is enough for a process.
type Poller struct {
	Options
	spool   *trial.Spool
	network network
	lines   pollLog
	fetches *shares
	parses  *shares
	small   chan struct{}

	mu    sync.Mutex
	held  map[mapdata.FeedID]*job
	hosts map[string]int // jobs by host
}

// job is one feed that this poller polls.
type job struct {
	feed   mapdata.Feed
	lease  mapdata.Lease
	host   string
	until  time.Time // end of its lease
	cancel context.CancelCauseFunc

	previous *job          // of the same feed, which must end first; nil: none
	done     chan struct{} // closed when the job has ended
}

// Causes with which a job is cancelled.
var (
	errLeaseLost = errors.New("lease lost")          // another node may have taken the feed
	errEdited    = errors.New("the feed was edited") // the poll uses settings that are no longer the feed's
)

// New returns a poller. It does nothing before Run.
func New(o Options) *Poller {
	if o.Observe == nil {
		o.Observe = func(mapdata.Outcome, time.Duration) {}
	}
	if o.ObserveSkips == nil {
		o.ObserveSkips = func(string, []mapdata.Skip) {}
	}
	if o.Large == nil {
		o.Large = make(chan struct{}, parseLarge)
	}
	return &Poller{
		Options: o, spool: trial.NewSpool(o.Spool), lines: pollLog{log: o.Log},
		fetches: newShares(fetchesPerOwner), parses: newShares(parsesPerOwner),
		small: make(chan struct{}, parseSmall),
		held:  make(map[mapdata.FeedID]*job), hosts: make(map[string]int),
	}
}

// Run polls until ctx ends. It returns when every poll has ended and released its lease; such polls do not count (D6.11).
func (p *Poller) Run(ctx context.Context) error {
	var polls sync.WaitGroup
	defer polls.Wait()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		case <-p.FeedDue.C():
		}
		p.lines.summarize(p.now())
		if p.claim(ctx, &polls) {
			next.Reset(startPause)
		} else {
			next.Reset(minClaimInterval + rand.N(maxClaimInterval-minClaimInterval))
		}
	}
}

// now returns the time as it is stored: UTC, to the millisecond.
func (p *Poller) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }

// claim leases due feeds, starts to poll them, and reports whether there may be more. Claims are jittered, so that nodes pick up roughly
// equal shares, and limited to startBatch, so that a backlog, for example after the database was away, is shared too.
func (p *Poller) claim(ctx context.Context, polls *sync.WaitGroup) (more bool) {
	for started := 0; ctx.Err() == nil && started < startBatch; {
		now := p.now()
		limit := min(claimBatch, p.room())
		if limit == 0 {
			break
		}
		feeds, err := p.Store.Claim(ctx, p.Node, now, now.Add(lease), limit)
		if err != nil {
			if ctx.Err() == nil {
				p.Log.Error("claiming due feeds failed", "error", err)
			}
			break
		}
		for i := range feeds {
			if ctx, j := p.take(ctx, &feeds[i], now.Add(lease)); j != nil {
				started++
				polls.Go(func() {
					defer p.forget(j)
					if j.previous != nil {
						<-j.previous.done // two polls of one feed never overlap
						j.previous = nil
					}
					p.poll(ctx, j)
				})
			}
		}
		if len(feeds) < limit {
			break
		}
		more = started >= startBatch
	}
	p.cancelExpired(p.now())
	return more
}

func (p *Poller) room() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maxHeld - len(p.held)
}

// take returns a job for a claimed feed. It returns nil when there is a job already, whose lease this renews, or when there are too many
// jobs of the host; the feed is then claimed again when its lease is over. A job whose feed was edited since is cancelled; the new job
// starts when it has ended.
func (p *Poller) take(ctx context.Context, f *mapdata.Feed, until time.Time) (context.Context, *job) {
	host := ""
	until = f.LeaseEnd(until)
	if u, err := safehttp.CheckURL(f.PullURL); err == nil {
		host = u.Host()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	previous := p.held[f.ID]
	if previous != nil {
		if previous.lease.Generation == f.Generation {
			previous.until = until
			return nil, nil
		}
		previous.cancel(errEdited)
	}
	if p.hosts[host] >= maxHeldPerHost {
		return nil, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{
		feed: *f, lease: mapdata.Lease{Node: p.Node, Generation: f.Generation}, host: host, until: until, cancel: cancel,
		previous: previous, done: make(chan struct{}),
	}
	p.held[f.ID] = j
	p.hosts[host]++
	return ctx, j
}

// forget removes a job that has ended.
func (p *Poller) forget(j *job) {
	j.cancel(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	close(j.done)
	if p.held[j.feed.ID] == j {
		delete(p.held, j.feed.ID)
	}
	if p.hosts[j.host]--; p.hosts[j.host] == 0 {
		delete(p.hosts, j.host)
	}
}

// cancelExpired cancels the jobs whose lease has expired, because another node may have the feed by now.
func (p *Poller) cancelExpired(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.held {
		if !now.Before(j.until) {
			j.cancel(errLeaseLost)
		}
	}
}

// release releases the lease of a poll without outcome.
func (p *Poller) release(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := p.Store.Release(ctx, j.feed.ID, j.lease); err != nil {
		p.Log.Warn("giving a lease back failed; it will end by itself", "feed", j.feed.ID.String(), "error", err)
	}
}
