package pull

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/provider/trial"
	"wayside/internal/safehttp"
	"wayside/internal/signal"
)

// Ingester takes good snapshots in; an *ingest.Ingester does. Tests of schedules put a fake in its place.
type Ingester interface {
	Snapshot(ctx context.Context, feed mapdata.FeedID, s ingest.Snapshot) (ingest.Report, error)
}

// Options are what a Poller needs.
type Options struct {
	Store  Store
	Ingest Ingester
	Web    trial.Fetcher
	Now    func() time.Time
	Log    *slog.Logger
	Node   string // names this process among those that share the store
	Spool  string // folder for large bodies; empty: where the system keeps temporary files
	// Unseal opens the auth header of a feed that has one, as «Name: value».
	Unseal  func(feed *mapdata.Feed) (string, error)
	FeedDue signal.FeedDue // wakes the poller before its schedule
	// StoreChanged is notified after a failed poll was stored; Ingest notifies after a good one.
	StoreChanged signal.StoreChanged
	// MailQueued is notified after a poll that may have stored an e-mail.
	MailQueued signal.MailQueued
	// Observe is told of each poll that was recorded and how long its fetch took; nil: nobody is. It may be called from many
	// goroutines.
	Observe func(outcome mapdata.Outcome, took time.Duration)
}

// How the poller keeps house.
const (
	lookWithin  = time.Second     // for due feeds again, at the latest
	lookAfter   = time.Second / 4 // at the earliest
	lease       = time.Minute     // of a feed; a poll that lasts longer renews it by being due again
	claimAtOnce = 256             // feeds
	startAtOnce = 256             // polls
	startPause  = time.Second / 8 // after so many, before the next
	maxHeld     = 8192            // feeds that are polled or wait for their turn
	maxOfHost   = 128             // of them on one host: the others come back when their lease is over
	parseLarge  = 1               // large bodies at a time: two that are all new rows would hold more than D6.6 allows
	parseSmall  = 8               // small ones, which large ones must not hold up
	lastWords   = 5 * time.Second // for giving leases back at the end
)

// Poller polls due feeds. One is enough for a process.
type Poller struct {
	Options
	spool   *trial.Spool
	network network
	large   chan struct{}
	small   chan struct{}

	mu    sync.Mutex
	held  map[mapdata.FeedID]*job
	hosts map[string]int // jobs by host
}

// job is one feed in this poller's hands.
type job struct {
	feed   mapdata.Feed
	lease  mapdata.Lease
	host   string
	until  time.Time // end of its lease
	cancel context.CancelCauseFunc

	previous *job          // of the same feed, which ends first; nil: none
	done     chan struct{} // closed when the job has ended
}

// Causes with which a job is cancelled.
var (
	errLeaseLost = errors.New("lease lost")          // another node may have taken the feed
	errEdited    = errors.New("the feed was edited") // what is polled is no longer what the feed says
)

// New makes a poller. It does nothing before Run.
func New(o Options) *Poller {
	if o.Observe == nil {
		o.Observe = func(mapdata.Outcome, time.Duration) {}
	}
	return &Poller{
		Options: o, spool: trial.NewSpool(o.Spool),
		large: make(chan struct{}, parseLarge), small: make(chan struct{}, parseSmall),
		held: make(map[mapdata.FeedID]*job), hosts: make(map[string]int),
	}
}

// Run polls until ctx ends. It returns when every poll has ended and given its lease back; such polls do not count
// (D6.11).
func (p *Poller) Run(ctx context.Context) error {
	var polls sync.WaitGroup
	defer polls.Wait()
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		case <-p.FeedDue.C():
		}
		if p.claim(ctx, &polls) {
			look.Reset(startPause)
		} else {
			look.Reset(lookAfter + rand.N(lookWithin-lookAfter))
		}
	}
}

// now is the time as it is stored: UTC, to the millisecond.
func (p *Poller) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }

// claim leases what is due, starts to poll it, and says whether there may be more. Nodes share feeds evenly by luck alone:
// each looks at moments of its own making, and finds what has become due since anyone looked; and none starts all at once of
// what has heaped up, for example while the database was away.
func (p *Poller) claim(ctx context.Context, polls *sync.WaitGroup) (more bool) {
	for started := 0; ctx.Err() == nil && started < startAtOnce; {
		now := p.now()
		limit := min(claimAtOnce, p.room())
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
					defer p.let(j)
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
		more = started >= startAtOnce
	}
	p.drop(p.now())
	return more
}

func (p *Poller) room() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maxHeld - len(p.held)
}

// take makes a job of a claimed feed. nil: it is in hand already, and its lease is renewed by this, or too many of its
// host are; such a feed comes back when its lease is over. A job whose feed was edited since is cancelled; the new job
// starts when it has ended.
func (p *Poller) take(ctx context.Context, f *mapdata.Feed, until time.Time) (context.Context, *job) {
	host := ""
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
	if p.hosts[host] >= maxOfHost {
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

// let forgets a job that ended.
func (p *Poller) let(j *job) {
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

// drop ends the jobs whose lease is over and was not renewed: another node may have them.
func (p *Poller) drop(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.held {
		if !now.Before(j.until) {
			j.cancel(errLeaseLost)
		}
	}
}

// release gives a lease back that brought nothing.
func (p *Poller) release(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := p.Store.Release(ctx, j.feed.ID, j.lease); err != nil {
		p.Log.Warn("giving a lease back failed; it will end by itself", "feed", j.feed.ID.String(), "error", err)
	}
}
