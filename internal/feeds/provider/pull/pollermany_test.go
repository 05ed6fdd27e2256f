package pull

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestNodesShareFeedsEvenly checks that three nodes poll a third of 10 000 feeds each, whether these are due one by one
// or all together, and each feed once per interval.
func TestNodesShareFeedsEvenly(t *testing.T) {
	const feeds, nodes, interval = 10_000, 3, 300 * time.Second
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		for i := range feeds {
			m.add(fmt.Sprintf("h%d.example.org", i), interval)
		}
		var webs [nodes]*web
		for i := range webs {
			webs[i] = answering("[]")
			time.Sleep(100 * time.Millisecond) // they do not start at the same moment
			defer run(t, m.poller(webs[i], func(o *Options) { o.Node = fmt.Sprint(i) }))()
		}
		last := [nodes]int{}
		for _, round := range []string{"all at once", "one by one"} {
			time.Sleep(interval)
			counts, all := [nodes]int{}, 0
			for i, w := range webs {
				w.mu.Lock()
				n := len(w.asked) - last[i]
				last[i] = len(w.asked)
				w.mu.Unlock()
				counts[i] = n
				all += n
			}
			for i, n := range counts {
				if share := float64(n) / float64(all); share < 0.28 || share > 0.39 {
					t.Errorf("%s: node %d made %d of %d polls", round, i, n, all)
				}
			}
			if round == "one by one" && (all < feeds*99/100 || all > feeds*101/100) {
				t.Errorf("%d polls of %d feeds in an interval", all, feeds)
			}
		}
	})
}

func TestOwnNetworkAtFault(t *testing.T) {
	for _, connected := range []bool{false, true} {
		t.Run(fmt.Sprint("connected ", connected), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, w := newMemory(t), failing(mapdata.OutcomeConnectionError, connected)
				var ids []mapdata.FeedID
				for i := range 6 {
					ids = append(ids, m.add(fmt.Sprintf("h%d.example.org", i%3), 30*time.Second))
				}
				stop := run(t, m.poller(w, nil))
				time.Sleep(72 * time.Hour)
				stop()
				active := 0
				for _, id := range ids {
					if f := m.feed(id); f.Active {
						active++
						if f.Polling.LastOutcome != mapdata.OutcomeConnectionError || f.Polling.LastFetchedAt.IsZero() {
							t.Errorf("not recorded: %+v", f.Polling)
						}
					}
				}
				if want := map[bool]int{false: 6, true: 0}[connected]; active != want {
					t.Errorf("%d of 6 feeds are active, want %d", active, want)
				}
			})
		})
	}
}
