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

	"wayside/internal/ratelimit"
	"wayside/internal/ratelimit/cluster"
	"wayside/internal/testenv"
	"wayside/internal/valkey"
)

// patient is for tests of what the cache decides: a machine with other things to do keeps it from answering in five
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
	c, err := valkey.Open(s.URL(), valkey.Options{Log: slog.New(slog.DiscardHandler)})
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

// nodes gives the buckets of so many nodes over one server, whose callers wait for it for so long.
func nodes(t testing.TB, s *testenv.CacheServer, count int, wait time.Duration) []*cluster.Buckets {
	t.Helper()
	all := make([]*cluster.Buckets, count)
	for i := range all {
		all[i] = cluster.New(cluster.Config{
			Cache: connect(t, s), Local: ratelimit.NewMemory(1000), Key: []byte("the nodes' key"), Now: time.Now,
			Timeout: wait,
		})
		background(t, all[i].Run)
	}
	return all
}

// TestNodesKeepOneLimit holds the bound: three nodes that a caller asks as fast as it can grant the limit, what was refilled
// meanwhile, and an eighth of the limit each.
func TestNodesKeepOneLimit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit ratelimit.Limit
		cost  int
	}{
		{"60 a minute", ratelimit.PerMinute(60), 1},
		{"600 a minute", ratelimit.PerMinute(600), 1},
		{"5 a minute", ratelimit.PerMinute(5), 1}, // has no eighth: each is asked for
		{"batches", ratelimit.PerMinute(10_000), 3000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := nodes(t, servers.Cache(t), 3, patient)
			began := time.Now()
			var passed atomic.Int64
			var group sync.WaitGroup
			for _, node := range all {
				for range 4 {
					group.Go(func() {
						for time.Since(began) < 1500*time.Millisecond {
							if node.Allow(caller, tt.limit, tt.cost, time.Now()).OK {
								passed.Add(int64(tt.cost))
							}
							<-time.After(time.Millisecond)
						}
					})
				}
			}
			group.Wait()
			refilled := int64(time.Since(began)*time.Duration(tt.limit.Count)/tt.limit.Per) + 1
			most := int64(tt.limit.Count+len(all)*(tt.limit.Count/8)) + refilled
			if n := passed.Load(); n > most || n < int64(tt.limit.Count-tt.cost+1) {
				t.Errorf("%d units passed, want %d to %d", n, tt.limit.Count-tt.cost+1, most)
			} else {
				t.Logf("%d units passed of at most %d", n, most)
			}
		})
	}
}

// TestNodesLearnWhatOthersGranted holds how soon: a node that is asked itself learns it with what it tells.
func TestNodesLearnWhatOthersGranted(t *testing.T) {
	all := nodes(t, servers.Cache(t), 2, patient)
	limit := ratelimit.PerMinute(60)
	for range 5 { // less than an eighth: nobody is asked
		all[0].Allow(caller, limit, 1, time.Now())
	}
	began := time.Now()
	for mine := 1; ; mine++ {
		d := all[1].Allow(caller, limit, 1, time.Now())
		if refilled := int(time.Since(began)/time.Second) + 1; d.Remaining <= 60-5-mine+refilled {
			break
		}
		if time.Since(began) > 3*time.Second {
			t.Fatal("the second node never learnt it")
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Logf("after %v", time.Since(began))
}

// TestScriptAgreesWithDecide holds that there is one rule.
func TestScriptAgreesWithDecide(t *testing.T) {
	s := servers.Cache(t)
	limit := ratelimit.PerMinute(10) // an eighth is 1: what costs 2 is asked for
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

// TestNodesDecideAloneWithoutTheCache holds that each node goes on alone, and that nobody waits.
func TestNodesDecideAloneWithoutTheCache(t *testing.T) {
	for name, begin := range map[string]func(*testenv.CacheServer) error{
		"dead": (*testenv.CacheServer).Stop, "hanging": (*testenv.CacheServer).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			s := testenv.Cache(t)
			all := nodes(t, s, 2, 0)
			limit := ratelimit.PerMinute(60)
			must(t, begin(s))
			var waited, longest time.Duration
			for _, node := range all {
				for n := range 50 {
					key := ratelimit.ClientKey(ratelimit.Reads, netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}))
					passed := 0
					for range 70 {
						began := time.Now()
						if node.Allow(key, limit, 1, began).OK {
							passed++
						}
						waited += time.Since(began)
						longest = max(longest, time.Since(began))
					}
					if passed < 60 || passed > 62 {
						t.Errorf("%d passed at one node, want its own 60", passed)
					}
				}
			}
			if longest > 50*time.Millisecond || waited > 200*time.Millisecond {
				t.Errorf("one waited %v, all together %v", longest, waited)
			}
			t.Logf("one waited %v, all together %v", longest, waited)
		})
	}
}

// TestNodesSettleWhenTheCacheIsBack holds that nodes settle once the cache is back, and that an emptied one frees nobody.
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
	began := time.Now()
	for all[0].Alone() || all[1].Alone() {
		if time.Since(began) > 5*time.Second {
			t.Fatal("not back within 5 s")
		}
		<-time.After(5 * time.Millisecond)
	}
	for all[1].Allow(caller, limit, 1, time.Now()).OK { // it knows nothing yet
		if time.Since(began) > 10*time.Second {
			t.Fatal("never refused")
		}
	}
}

// TestCacheHoldsNoClientAddress holds D13.2 for what lies in the cache: a keyed hash, and not for longer than an hour.
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

// TestEmptiedCacheIsFilledAgain: each word says how much is used up in all, as far as the node knows.
func TestEmptiedCacheIsFilledAgain(t *testing.T) {
	s := servers.Cache(t)
	all := nodes(t, s, 2, patient)
	limit := ratelimit.PerMinute(60)
	for range 40 {
		all[0].Allow(caller, limit, 1, time.Now())
	}
	must(t, s.Empty())
	all[0].Allow(caller, limit, 8, time.Now()) // more than an eighth: the cache is asked
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

// BenchmarkSettle is what a word with the cache costs for each of many callers who were granted something.
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
