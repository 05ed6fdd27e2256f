package cluster_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	raw "github.com/valkey-io/valkey-go"

	"wayside/internal/ground/ratelimit"
	"wayside/internal/nodes/ratelimit/cluster"
	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

// patient is the timeout in tests of the cache's decisions, because a busy machine may keep the cache from answering in five
// milliseconds.
const patient = time.Second

var caller = ratelimit.ClientKey(ratelimit.Reads, netip.MustParseAddr("192.0.2.1"))

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t testing.TB, s *testenv.CacheServer) *valkey.Conn {
	t.Helper()
	return connectWith(t, s, valkey.Options{})
}

func connectWith(t testing.TB, s *testenv.CacheServer, o valkey.Options) *valkey.Conn {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	c, err := valkey.Open(s.URL(), o)
	must(t, err)
	background(t, c.Run)
	return c
}

func background(t testing.TB, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
}

// nodes returns the buckets of count nodes over one server, whose callers wait for the server for the given time.
func nodes(t testing.TB, s *testenv.CacheServer, count int, wait time.Duration) []*cluster.Buckets {
	t.Helper()
	return nodesWith(t, s, count, wait, valkey.Options{})
}

func nodesWith(t testing.TB, s *testenv.CacheServer, count int, wait time.Duration, o valkey.Options) []*cluster.Buckets {
	t.Helper()
	all := make([]*cluster.Buckets, count)
	for i := range all {
		all[i] = cluster.New(cluster.Config{
			Cache: connectWith(t, s, o), Local: ratelimit.NewMemory(1000), Key: []byte("the nodes' key"), Now: time.Now,
			Timeout: wait,
		})
		background(t, all[i].Run)
	}
	return all
}

// TestNodesKeepOneLimit checks the bound: a caller who asks three nodes as fast as possible is granted at most the limit, the units
// that were refilled meanwhile, and an eighth of the limit for each node.
func TestNodesKeepOneLimit(t *testing.T) {
	s := servers.Cache(t)
	for i, tt := range []struct {
		name  string
		limit ratelimit.Limit
		cost  int
	}{
		{"60 a minute", ratelimit.PerMinute(60), 1},
		{"600 a minute", ratelimit.PerMinute(600), 1},
		{"5 a minute", ratelimit.PerMinute(5), 1}, // has no eighth, so that the cache decides on each
		{"batches", ratelimit.PerMinute(10_000), 3000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for try := range 20 {
				caller := ratelimit.ClientKey(ratelimit.Reads, netip.AddrFrom4([4]byte{192, 0, byte(i), byte(try)}))
				var failed atomic.Bool
				all := nodesWith(t, s, 3, patient, valkey.Options{
					Failed:  func(string) { failed.Store(true) },
					Changed: func(bool) { failed.Store(true) },
				})
				n, most := passed(all, caller, tt.limit, tt.cost)
				if failed.Load() { // a node without an answer of the cache for half a second grants a separate limit
					t.Log("the cache did not answer in time; once more")
					continue
				}
				if n > most || n < int64(tt.limit.Count-tt.cost+1) {
					t.Errorf("%d units passed, want %d to %d", n, tt.limit.Count-tt.cost+1, most)
				} else {
					t.Logf("%d units passed of at most %d", n, most)
				}
				return
			}
			t.Fatal("the machine is too slow: no try had all answers of the cache")
		})
	}
}

// passed returns how many units the nodes grant a caller who asks as fast as possible for a second and a half, and how many the
// bound allows.
func passed(all []*cluster.Buckets, caller ratelimit.Key, limit ratelimit.Limit, cost int) (n, most int64) {
	began := time.Now()
	var units atomic.Int64
	var group sync.WaitGroup
	for _, node := range all {
		for range 4 {
			group.Go(func() {
				for time.Since(began) < 1500*time.Millisecond {
					if node.Allow(caller, limit, cost, time.Now()).OK {
						units.Add(int64(cost))
					}
					<-time.After(time.Millisecond)
				}
			})
		}
	}
	group.Wait()
	refilled := int64(time.Since(began)*time.Duration(limit.Count)/limit.Per) + 1
	return units.Load(), int64(limit.Count+len(all)*(limit.Count/8)) + refilled
}

// TestNodeGrantsAnEighthWhileTheCacheIsAsked checks the bound while a call of the cache is under way: the units in the call count
// until the cache has answered, whether a request or the regular exchange sent it.
func TestNodeGrantsAnEighthWhileTheCacheIsAsked(t *testing.T) {
	limit := ratelimit.PerMinute(60)
	for name, tt := range map[string]struct {
		send func(node *cluster.Buckets)
		took int // by send
	}{
		"a request":            {func(node *cluster.Buckets) { node.Allow(caller, limit, 8, time.Now()) }, 8},
		"the regular exchange": {func(node *cluster.Buckets) { node.Settle(t.Context()) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := testenv.Cache(t)
			for began := time.Now(); time.Since(began) < time.Minute; {
				must(t, s.Empty())
				node := nodes(t, s, 1, time.Minute)[0]
				before, after, inTime := grantedWhilePaused(t, s, node, limit, tt.send)
				if !inTime {
					continue
				}
				eighth := limit.Count / 8
				if before != eighth || after != 3*eighth {
					t.Errorf("%d passed before the cache answered and %d in all, want %d and %d", before, after, eighth, 3*eighth)
				}
				d := node.Allow(caller, limit, 8, time.Now()) // more than an eighth, so that the cache is asked
				if want := limit.Count - 3*eighth - tt.took - 8; d.Remaining != want && d.Remaining != want+1 {
					t.Errorf("the cache knows of %d left, want %d", d.Remaining, want)
				}
				return
			}
			t.Fatal("the machine is too slow: no try was done before a call of the cache failed")
		})
	}
}

// grantedWhilePaused asks the node for three eighths of the limit, the last two while send's call of a paused cache is under way,
// and returns how many units were granted before the cache answered, and in all. A call fails after half a second: inTime reports
// whether everything was done sooner.
func grantedWhilePaused(
	t *testing.T, s *testenv.CacheServer, node *cluster.Buckets, limit ratelimit.Limit, send func(*cluster.Buckets),
) (before, after int, inTime bool) {
	began, alone := time.Now(), node.Alone()
	must(t, s.Pause())
	var passed atomic.Int64
	ask := func() {
		if node.Allow(caller, limit, 1, time.Now()).OK {
			passed.Add(1)
		}
	}
	var group sync.WaitGroup
	for range limit.Count / 8 {
		ask()
	}
	group.Go(func() { send(node) })
	<-time.After(20 * time.Millisecond)
	for range 2 * (limit.Count / 8) {
		group.Go(ask)
	}
	<-time.After(20 * time.Millisecond)
	before = int(passed.Load())
	must(t, s.Resume())
	group.Wait()
	return before, int(passed.Load()), !alone && time.Since(began) < 400*time.Millisecond
}

// TestNodesLearnWhatOthersGranted checks how soon a node counts the units that others granted: its own exchange with the cache
// brings them.
func TestNodesLearnWhatOthersGranted(t *testing.T) {
	all := nodes(t, servers.Cache(t), 2, patient)
	limit := ratelimit.PerMinute(60)
	for range 5 { // less than an eighth, so that the cache is not asked
		all[0].Allow(caller, limit, 1, time.Now())
	}
	began, watch := time.Now(), testenv.StartStopwatch()
	for mine := 1; ; mine++ {
		d := all[1].Allow(caller, limit, 1, time.Now())
		if refilled := int(time.Since(began)/time.Second) + 1; d.Remaining <= 60-5-mine+refilled {
			break
		}
		if watch.Took() > 3*time.Second {
			t.Fatal("the second node never learnt it")
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Logf("after %v", time.Since(began))
}

// TestScriptAgreesWithDecide checks that the script and ratelimit.Decide decide alike.
func TestScriptAgreesWithDecide(t *testing.T) {
	s := servers.Cache(t)
	limit := ratelimit.PerMinute(10) // an eighth is 1, so that a cost of 2 asks the cache
	for spent := range 25 {
		must(t, s.Empty())
		a, b := nodes(t, s, 1, patient)[0], ratelimit.NewMemory(10)
		now := time.Now()
		if spent > 0 {
			a.Local.Allow(caller, limit, spent, now)
			b.Allow(caller, limit, spent, now)
		}
		for _, cost := range []int{2, 9, 10, 11, 30} {
			got, want := a.Allow(caller, limit, cost, now), b.Allow(caller, limit, cost, now)
			if got.OK != want.OK || (got.Reset-want.Reset).Abs() > 50*time.Millisecond || (got.RetryAfter-want.RetryAfter).Abs() > 50*time.Millisecond {
				t.Errorf("%d after %d: %+v, want %+v", cost, spent, got, want)
			}
		}
	}
}

// TestNodesDecideAloneWithoutTheCache checks that each node decides alone without the cache, and that no request waits for long. A
// busy machine can delay any request, so that one try of ten must be in time.
func TestNodesDecideAloneWithoutTheCache(t *testing.T) {
	for name, begin := range map[string]func(*testenv.CacheServer) error{
		"dead": (*testenv.CacheServer).Stop, "hanging": (*testenv.CacheServer).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			s := testenv.Cache(t)
			var all, longest time.Duration
			for range 10 {
				two := nodes(t, s, 2, 0)
				must(t, begin(s))
				all, longest = decideAlone(t, two)
				t.Logf("one waited %v, all together %v", longest, all)
				if longest <= 50*time.Millisecond && all <= 200*time.Millisecond {
					return
				}
				must(t, s.Stop())
				must(t, s.Start())
			}
			t.Errorf("one waited %v, all together %v", longest, all)
		})
	}
}

// decideAlone asks each node for more than the limit on behalf of 50 callers, and returns how long all requests took and the
// longest of them.
func decideAlone(t *testing.T, nodes []*cluster.Buckets) (all, longest time.Duration) {
	limit := ratelimit.PerMinute(60)
	for _, node := range nodes {
		for n := range 50 {
			key := ratelimit.ClientKey(ratelimit.Reads, netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}))
			first, passed := time.Now(), 0
			for range 70 {
				began := time.Now()
				if node.Allow(key, limit, 1, began).OK {
					passed++
				}
				all += time.Since(began)
				longest = max(longest, time.Since(began))
			}
			if most := 61 + int(time.Since(first)/time.Second); passed < 60 || passed > most {
				t.Errorf("%d passed at one node, want its own 60", passed)
			}
		}
	}
	return all, longest
}

// TestNodesSettleWhenTheCacheIsBack checks that nodes settle once the cache is back, and that an emptied cache frees no caller.
func TestNodesSettleWhenTheCacheIsBack(t *testing.T) {
	s := testenv.Cache(t)
	all := nodes(t, s, 2, patient)
	limit := ratelimit.PerMinute(60)
	for all[0].Allow(caller, limit, 1, time.Now()).OK {
		if all[0].Alone() {
			t.Fatal("alone with a good cache")
		}
	}
	must(t, s.Empty())
	if all[0].Allow(caller, limit, 1, time.Now()).OK {
		t.Error("an emptied cache freed a caller")
	}
	must(t, s.Stop())
	must(t, s.Start())
	watch := testenv.StartStopwatch(s.PID())
	for all[0].Alone() || all[1].Alone() {
		if watch.Took() > 5*time.Second {
			t.Fatal("not back within 5 s")
		}
		<-time.After(5 * time.Millisecond)
	}
	for all[1].Allow(caller, limit, 1, time.Now()).OK { // it does not know of the others' grants yet
		if watch.Clock() > time.Minute {
			t.Fatal("never refused")
		}
	}
}

// TestCacheHoldsNoClientAddress checks D13.2 for the contents of the cache: a keyed hash, for an hour at most.
func TestCacheHoldsNoClientAddress(t *testing.T) {
	s := servers.Cache(t)
	cache := connect(t, s)
	keys := make(map[string]bool)
	u, err := url.Parse(s.URL())
	must(t, err)
	password, _ := u.User.Password()
	client, err := raw.NewClient(raw.ClientOption{InitAddress: []string{u.Host}, Password: password, DisableCache: true})
	must(t, err)
	defer client.Close()
	for _, key := range [][]byte{[]byte("one key"), []byte("another")} {
		must(t, s.Empty())
		node := cluster.New(cluster.Config{Cache: cache, Local: ratelimit.NewMemory(10), Key: key, Now: time.Now, Timeout: patient})
		node.Allow(caller, ratelimit.PerMinute(1), 100, time.Now())
		all, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
		must(t, err)
		if len(all) != 1 || keys[all[0]] {
			t.Fatalf("keys %q: want one, another for each secret", all)
		}
		keys[all[0]] = true
		left, err := client.Do(t.Context(), client.B().Pttl().Key(all[0]).Build()).AsInt64()
		must(t, err)
		if left <= 0 || left > ratelimit.Horizon.Milliseconds() {
			t.Errorf("it is kept for %d ms", left)
		}
		address := caller.AppendBytes(nil)
		for _, part := range [][]byte{address, address[12:]} { // the last four are the IPv4 address
			for _, text := range []string{string(part), hex.EncodeToString(part), base64.RawURLEncoding.EncodeToString(part), "192.0.2.1"} {
				if strings.Contains(all[0], text) {
					t.Errorf("%q holds the address", all[0])
				}
			}
		}
	}
}

// TestEmptiedCacheIsFilledAgain checks that each call of the cache sends how much of a bucket is used up in all, as far as the node
// knows.
func TestEmptiedCacheIsFilledAgain(t *testing.T) {
	s := servers.Cache(t)
	all := nodes(t, s, 2, patient)
	limit := ratelimit.PerMinute(60)
	for range 40 {
		all[0].Allow(caller, limit, 1, time.Now())
	}
	must(t, s.Empty())
	all[0].Allow(caller, limit, 8, time.Now()) // more than an eighth, so that the cache is asked
	if d := all[1].Allow(caller, limit, 8, time.Now()); d.Remaining > 60-56+1 {
		t.Errorf("another node knows of %d left, want 4", d.Remaining)
	}
}

func BenchmarkAllow(b *testing.B) {
	s := servers.Cache(b)
	for name, limit := range map[string]ratelimit.Limit{"a caller who is granted": ratelimit.PerMinute(1 << 30), "a caller who is refused": ratelimit.PerMinute(60)} {
		b.Run(name, func(b *testing.B) {
			node := nodes(b, s, 1, 0)[0]
			b.ReportAllocs()
			for b.Loop() {
				node.Allow(caller, limit, 1, time.Now())
			}
		})
	}
}

// BenchmarkSettle measures an exchange with the cache for each of many callers who were granted units.
func BenchmarkSettle(b *testing.B) {
	node := cluster.New(cluster.Config{
		Cache: connect(b, servers.Cache(b)), Local: ratelimit.NewMemory(100_000), Key: []byte("the nodes' key"), Now: time.Now,
	})
	limit := ratelimit.PerMinute(60)
	const callers = 10_000
	for b.Loop() {
		now := time.Now()
		for n := range callers {
			key := ratelimit.ClientKey(ratelimit.Reads, netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}))
			node.Allow(key, limit, 1, now)
		}
		node.Settle(b.Context())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/callers, "ns/caller")
}
