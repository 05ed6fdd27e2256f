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

	"wayside/internal/ratelimit"
	"wayside/internal/valkey"
)

const (
	// share is the part of a limit that a node grants to a caller before it has told the others.
	share = 8
	// patience is how long a caller waits for the cache; when it was in vain for a while, nobody waits for a longer while.
	patience = 5 * time.Millisecond
	inVain   = 50 * time.Millisecond
	aloneFor = time.Second
	// settleEvery is how often nodes tell each other; settleAtOnce how many buckets in one step of the cache, which
	// serves nobody else meanwhile.
	settleEvery  = 250 * time.Millisecond
	settleAtOnce = 128
	shards       = 64
)

// Config is what Buckets need.
type Config struct {
	Cache *valkey.Conn
	Local *ratelimit.Memory // what this node knows; Buckets runs it
	Key   []byte            // hides who a bucket belongs to; the same on all nodes
	Now   func() time.Time

	Patience time.Duration // a caller's; 0: five milliseconds
}

// Buckets decides on requests together with other nodes. Run must run beside it.
type Buckets struct {
	Config
	script *valkey.Script
	seed   maphash.Seed
	shards [shards]shard

	// In microseconds of Unix time; 0: never.
	trouble atomic.Int64 // since when the cache was waited for in vain
	alone   atomic.Int64 // until when nobody waits for it
}

// shard is a part of what was granted and not yet told.
type shard struct {
	mu      sync.Mutex
	granted map[ratelimit.Key]time.Duration
}

// New makes buckets.
func New(c Config) *Buckets {
	if c.Patience == 0 {
		c.Patience = patience
	}
	b := &Buckets{Config: c, script: valkey.NewScript(settle), seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].granted = make(map[ratelimit.Key]time.Duration)
	}
	return b
}

// Peek says what this node alone would say, and takes nothing.
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
	granted := s.granted[key]
	if granted+price.Take > price.Burst/share && !b.Alone() {
		if d := b.Local.Peek(key, limit, cost, now); !d.OK { // who is refused for what one node knows is refused by all
			s.mu.Unlock()
			return d
		}
		delete(s.granted, key) // the question tells it
		s.mu.Unlock()
		return b.ask(bucket{key, granted}, limit, cost, now)
	}
	d := b.Local.Allow(key, limit, cost, now)
	if d.OK {
		s.granted[key] = min(granted+price.Take, ratelimit.Horizon)
	}
	s.mu.Unlock()
	return d
}

// Alone says whether this node decides without the others just now.
func (b *Buckets) Alone() bool {
	return !b.Cache.Up() || b.Now().UnixMicro() < b.alone.Load()
}

func (b *Buckets) shard(key ratelimit.Key) *shard {
	return &b.shards[maphash.Comparable(b.seed, key)%shards]
}

// bucket is one, and what was granted of it that the others do not know.
type bucket struct {
	key     ratelimit.Key
	granted time.Duration
}

// ask lets the cache decide.
func (b *Buckets) ask(of bucket, limit ratelimit.Limit, cost int, now time.Time) ratelimit.Decision {
	ctx, cancel := context.WithTimeout(context.Background(), b.Patience)
	defer cancel()
	price := limit.Price(cost)
	answers, err := b.tell(ctx, []bucket{of}, price, now)
	if err != nil {
		b.missed(b.Now())
		return b.Local.Allow(of.key, limit, cost, now)
	}
	b.trouble.Store(0)
	return limit.Decision(time.Duration(answers[1])*time.Microsecond, cost, answers[0] == 1)
}

// missed notes that the cache was waited for in vain.
func (b *Buckets) missed(now time.Time) {
	at := now.UnixMicro()
	if !b.trouble.CompareAndSwap(0, at) && at-b.trouble.Load() >= inVain.Microseconds() {
		b.alone.Store(at + aloneFor.Microseconds())
	}
}

// tell settles buckets with the cache, which takes the price out of each of them if it can, and learns what it knows.
//
// What was granted counts as told, whatever comes of it: a cache that hung may have heard it, and nobody is to pay twice.
// It is not lost either, since this node's own bucket is told each time.
func (b *Buckets) tell(ctx context.Context, of []bucket, price ratelimit.Price, now time.Time) ([]int64, error) {
	keys, args := make([]string, len(of)), make([]string, 0, 4*len(of))
	for i := range of {
		keys[i] = b.name(of[i].key)
		known := b.Local.Peek(of[i].key, anyLimit, 0, now).Reset
		for _, d := range [...]time.Duration{of[i].granted, known, price.Take, price.Burst} {
			args = append(args, strconv.FormatInt(d.Microseconds(), 10))
		}
	}
	answers, err := b.Cache.Eval(ctx, b.script, keys, args)
	if err != nil {
		return nil, err
	}
	for i := range of {
		// By the time when the question was sent: what went by since then must not make a bucket emptier each time.
		full := now.UnixMicro() + answers[2*i+1]
		s := b.shard(of[i].key)
		s.mu.Lock()
		b.Local.Raise(of[i].key, ratelimit.State(full+s.granted[of[i].key].Microseconds()))
		s.mu.Unlock()
	}
	return answers, nil
}

// anyLimit is for looking at a bucket: when it is full again does not depend on the limit.
var anyLimit = ratelimit.PerMinute(1)

// name hides whose a bucket is: nobody who looks into the cache learns a client's address.
func (b *Buckets) name(key ratelimit.Key) string {
	mac := hmac.New(sha256.New, b.Config.Key)
	var room [16]byte
	_, _ = mac.Write(key.AppendBytes(room[:0])) // a hash never fails
	return "rate/" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// Run settles with the other nodes, and forgets buckets that are full again, until ctx ends.
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

// settle tells all that was granted since it was told last.
func (b *Buckets) settle(ctx context.Context) {
	var all []bucket
	for i := range b.shards {
		s := &b.shards[i]
		s.mu.Lock()
		for key, granted := range s.granted {
			all = append(all, bucket{key, granted})
		}
		clear(s.granted)
		s.mu.Unlock()
	}
	for len(all) > 0 {
		n := min(len(all), settleAtOnce)
		if _, err := b.tell(ctx, all[:n], ratelimit.Price{}, b.Now()); err != nil {
			return // the cache says itself how it is, and the buckets of this node know what was granted
		}
		all = all[n:]
	}
}
