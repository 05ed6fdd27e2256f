package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/ground/ratelimit"
	"wayside/internal/nodes/valkey"
)

const (
	// share is the fraction of a limit (1/share) that a node grants before it asks the cache.
	share = 8
	// cacheTimeout is how long a request waits for the cache. After calls have timed out for failAfter, the cache is skipped for
	// skipFor.
	cacheTimeout = 5 * time.Millisecond
	failAfter    = 50 * time.Millisecond
	skipFor      = time.Second
	// settleEvery is how often nodes exchange the units that they granted; settleBatch is the number of buckets in one call of the
	// script, during which the cache serves no other request.
	settleEvery = 250 * time.Millisecond
	settleBatch = 128
	shards      = 64
)

// Config holds the dependencies and settings of Buckets.
type Config struct {
	Cache *valkey.Conn
	Local *ratelimit.Memory // the buckets of this node; Run runs it
	Key   []byte            // of the HMAC that forms the names of buckets in the cache; the same on all nodes
	Now   func() time.Time

	Timeout time.Duration // of a request that waits for the cache; 0: five milliseconds
}

// Buckets decides on requests together with other nodes. Run must run beside it.
type Buckets struct {
	Config
	script *valkey.Script
	seed   maphash.Seed
	shards [shards]shard

	// In microseconds of Unix time; 0: never.
	failingSince atomic.Int64 // when calls of the cache began to time out
	skipUntil    atomic.Int64 // until when the cache is skipped
}

// shard holds a part of the unsettled buckets.
type shard struct {
	mu        sync.Mutex
	unsettled map[ratelimit.Key]unsettled
}

// unsettled is what this node granted of a bucket and the cache has not confirmed. Both fields count against the node's share of
// the limit: otherwise the node could grant another share for each call under way.
type unsettled struct {
	granted time.Duration // not yet sent
	sent    time.Duration // in calls that are under way
}

// put replaces the unsettled part of a bucket. The caller holds the lock.
func (s *shard) put(key ratelimit.Key, u unsettled) {
	if u == (unsettled{}) {
		delete(s.unsettled, key)
	} else {
		s.unsettled[key] = u
	}
}

// New returns buckets without contents.
func New(c Config) *Buckets {
	if c.Timeout == 0 {
		c.Timeout = cacheTimeout
	}
	b := &Buckets{Config: c, script: valkey.NewScript(settle), seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].unsettled = make(map[ratelimit.Key]unsettled)
	}
	return b
}

// Peek returns the decision of this node's own bucket, and takes nothing.
func (b *Buckets) Peek(key ratelimit.Key, limit ratelimit.Limit, cost int, now time.Time) ratelimit.Decision {
	return b.Local.Peek(key, limit, cost, now)
}

// Allow takes cost units out of the key's bucket, or refuses.
func (b *Buckets) Allow(key ratelimit.Key, limit ratelimit.Limit, cost int, now time.Time) ratelimit.Decision {
	if limit.Count <= 0 || cost <= 0 {
		return b.Local.Allow(key, limit, cost, now)
	}
	price := limit.Price(cost)
	s := b.shard(key)
	s.mu.Lock()
	u := s.unsettled[key]
	if u.granted+u.sent+price.Take > price.Burst/share && !b.Alone() {
		if d := b.Local.Peek(key, limit, cost, now); !d.OK { // a bucket that is empty by this node's count is empty for all nodes
			s.mu.Unlock()
			return d
		}
		of := b.send(s, key, now)
		s.mu.Unlock()
		return b.ask(of, limit, cost, now)
	}
	d := b.Local.Allow(key, limit, cost, now)
	if d.OK {
		u.granted = min(u.granted+price.Take, ratelimit.Horizon)
		s.put(key, u)
	}
	s.mu.Unlock()
	return d
}

// Return puts cost units back into the key's bucket, as far as this node has not sent them to the cache yet. Units that other nodes
// know as taken stay taken, which never grants more than the limit.
func (b *Buckets) Return(key ratelimit.Key, limit ratelimit.Limit, cost int, now time.Time) {
	if limit.Count <= 0 || cost <= 0 {
		return
	}
	s := b.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.unsettled[key]
	back := min(u.granted, limit.Price(cost).Take)
	if b.Alone() {
		back = limit.Price(cost).Take
	}
	u.granted = max(0, u.granted-back)
	s.put(key, u)
	b.Local.Lower(key, back, now)
}

// send marks the unsettled part of a bucket as sent. The caller holds the shard's lock, and calls answered after its call of the
// cache.
func (b *Buckets) send(s *shard, key ratelimit.Key, now time.Time) bucket {
	u := s.unsettled[key]
	// Parts in other calls are left out of the level: the cache adds them when those calls arrive.
	full := now.Add(b.Local.Peek(key, anyLimit, 0, now).Reset - u.sent)
	s.put(key, unsettled{sent: u.sent + u.granted})
	return bucket{key, u.granted, full}
}

// answered ends the call that send began. level is 0 if the call failed.
func (b *Buckets) answered(of bucket, level ratelimit.State) {
	s := b.shard(of.key)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.unsettled[of.key]
	u.sent -= of.granted
	s.put(of.key, u)
	if level > 0 {
		b.Local.Raise(of.key, level+ratelimit.State(u.granted.Microseconds()))
	}
}

// Alone reports whether this node decides without the cache at present.
func (b *Buckets) Alone() bool {
	return !b.Cache.Up() || b.Now().UnixMicro() < b.skipUntil.Load()
}

func (b *Buckets) shard(key ratelimit.Key) *shard {
	return &b.shards[maphash.Comparable(b.seed, key)%shards]
}

// bucket names a bucket, with the part of it that a call of the cache sends.
type bucket struct {
	key     ratelimit.Key
	granted time.Duration // by this node, since the last call
	full    time.Time     // when the bucket is full again, by this node's count
}

// ask lets the cache decide. If the call fails, this node decides.
func (b *Buckets) ask(of bucket, limit ratelimit.Limit, cost int, now time.Time) ratelimit.Decision {
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	price := limit.Price(cost)
	answers, err := b.exchange(ctx, []bucket{of}, price, now)
	if err != nil {
		b.missed(b.Now())
		return b.Local.Allow(of.key, limit, cost, now)
	}
	b.failingSince.Store(0)
	return limit.Decision(time.Duration(answers[1])*time.Microsecond, cost, answers[0] == 1)
}

// missed records a failed call of the cache.
func (b *Buckets) missed(now time.Time) {
	at := now.UnixMicro()
	if !b.failingSince.CompareAndSwap(0, at) && at-b.failingSince.Load() >= failAfter.Microseconds() {
		b.skipUntil.Store(at + skipFor.Microseconds())
	}
}

// exchange settles buckets with the cache, which takes the price out of each of them if it can, and adopts the cache's levels.
//
// The granted units count as settled even if the call fails: a cache that hung may have counted them, and they must not be counted
// twice. They are not lost either, because the level of this node's own bucket is sent each time.
func (b *Buckets) exchange(ctx context.Context, of []bucket, price ratelimit.Price, now time.Time) ([]int64, error) {
	keys, args := make([]string, len(of)), make([]string, 0, 4*len(of))
	for i := range of {
		keys[i] = b.name(of[i].key)
		known := max(0, of[i].full.Sub(now))
		for _, d := range [...]time.Duration{of[i].granted, known, price.Take, price.Burst} {
			args = append(args, strconv.FormatInt(d.Microseconds(), 10))
		}
	}
	answers, err := b.Cache.Eval(ctx, b.script, keys, args)
	for i := range of {
		var level int64
		if err == nil {
			// Relative to the time when the call was sent: otherwise its duration would make the bucket emptier each time.
			level = now.UnixMicro() + answers[2*i+1]
		}
		b.answered(of[i], ratelimit.State(level))
	}
	return answers, err
}

// anyLimit is used to read when a bucket is full again, which does not depend on the limit.
var anyLimit = ratelimit.PerMinute(1)

// name returns a bucket's name in the cache, from which no client's address can be read.
func (b *Buckets) name(key ratelimit.Key) string {
	mac := hmac.New(sha256.New, b.Config.Key)
	var room [16]byte
	_, _ = mac.Write(key.AppendBytes(room[:0])) // a hash never fails
	return "rate/" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// Run settles with the other nodes, and drops buckets that are full again, until ctx ends.
func (b *Buckets) Run(ctx context.Context) error {
	var local sync.WaitGroup
	var err error
	local.Go(func() { err = b.Local.Run(ctx) })
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			b.settle(ctx)
		}
	}
	local.Wait()
	return err
}

// settle exchanges with the cache all units that were granted since the last time.
func (b *Buckets) settle(ctx context.Context) {
	now := b.Now()
	var all []bucket
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		for key, u := range s.unsettled {
			if u.granted > 0 {
				all = append(all, b.send(s, key, now))
			}
		}
		s.mu.Unlock()
	}
	for len(all) > 0 {
		n := min(len(all), settleBatch)
		if _, err := b.exchange(ctx, all[:n], ratelimit.Price{}, b.Now()); err != nil {
			for _, of := range all[n:] {
				b.answered(of, 0)
			}
			return // the connection logs its failures, and this node's own buckets have counted the granted units
		}
		all = all[n:]
	}
}
