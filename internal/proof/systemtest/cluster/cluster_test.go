package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// fleet is several nodes on one database and one cache, with load on all of them.
type fleet struct {
	t     *testing.T
	cache *testenv.CacheServer
	nodes []*systemtest.Service
	feeds []systemtest.PushFeed // one for each node's writer
	load  *clusterLoad
}

// startFleet starts count nodes on the database.
func startFleet(t *testing.T, count int, database string) *fleet {
	t.Helper()
	f := &fleet{t: t}
	f.nodes, f.cache = systemtest.StartNodes(t, count, systemtest.Unlimited, database)
	owner := f.nodes[0].SignIn("owner@example.org")
	for i := range f.nodes {
		f.feeds = append(f.feeds, owner.Register(fmt.Sprint("feed ", i)))
	}
	return f
}

// clusterLoad is a writer and a reader for each node, until stop is called.
type clusterLoad struct {
	f      *fleet
	ended  chan struct{}
	stop   func() // ends the load, and waits until it has ended
	slow   atomic.Bool
	group  sync.WaitGroup
	mu     sync.Mutex
	pushed []systemtest.Batch
	agreed int            // how many of pushed all nodes have shown
	reads  []atomic.Int64 // good ones, of each node
	writes []atomic.Int64 // answered 200
}

const clusterRows = 50 // of each batch

// The pace of the load leaves the nodes enough processor time: the test only needs reads and writes under way whenever a component
// stops.
const (
	betweenWrites = 75 * time.Millisecond
	betweenReads  = 50 * time.Millisecond
	slowdown      = 5 // while the test waits for time to pass, and nothing stops or starts
)

func (f *fleet) startLoad() {
	f.load = &clusterLoad{
		f: f, ended: make(chan struct{}), reads: make([]atomic.Int64, len(f.nodes)), writes: make([]atomic.Int64, len(f.nodes)),
	}
	f.load.stop = sync.OnceFunc(func() {
		close(f.load.ended)
		f.load.group.Wait()
	})
	for i := range f.nodes {
		f.load.group.Go(func() { f.load.write(i) })
		f.load.group.Go(func() { f.load.read(i) })
	}
}

// pause waits, and reports whether the load continues.
func (l *clusterLoad) pause(d time.Duration) bool {
	if l.slow.Load() {
		d *= slowdown
	}
	select {
	case <-l.ended:
		return false
	case <-time.After(d):
		return true
	}
}

// write pushes batches through one node. A rejected push must be answered with 503 and Retry-After.
func (l *clusterLoad) write(node int) {
	c := &systemtest.Client{Service: l.f.nodes[node], HTTP: http.Client{Timeout: 5 * time.Second}}
	defer c.HTTP.CloseIdleConnections()
	for number := 0; l.pause(betweenWrites); number++ {
		b := systemtest.Batch{Feed: node, Number: number}
		lat, lng := b.Place()
		resp, body, err := c.Try(http.MethodPost, "/v2/feeds/"+l.f.feeds[node].Token+"/entities", systemtest.RowsAt(lat, lng, strconv.Itoa(number), clusterRows))
		b.Answered = err == nil && resp.StatusCode == http.StatusOK
		l.mu.Lock()
		l.pushed = append(l.pushed, b)
		l.mu.Unlock()
		switch {
		case b.Answered:
			l.writes[node].Add(1)
		case err != nil: // the node is gone or hangs
			l.pause(100 * time.Millisecond)
		case resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "":
			l.f.t.Errorf("push through node %d: %d %v %s", node, resp.StatusCode, resp.Header, body)
		default:
			l.pause(100 * time.Millisecond)
		}
	}
}

// read reads batches that this node has shown before. An answer of 200 must contain them completely.
func (l *clusterLoad) read(node int) {
	c := &systemtest.Client{Service: l.f.nodes[node], HTTP: http.Client{Timeout: 5 * time.Second}}
	defer c.HTTP.CloseIdleConnections()
	var shown []systemtest.Batch
	for at, turn := 0, 0; l.pause(betweenReads); turn++ {
		if len(shown) == 0 || turn%4 == 0 {
			if b, ok := l.answered(at); ok {
				at++
				if ids, err := c.Near(b.Place()); err == nil && len(ids) == clusterRows {
					shown = append(shown, b)
				}
			}
			continue
		}
		b := shown[turn%len(shown)]
		ids, err := c.Near(b.Place())
		switch {
		case err == nil && len(ids) == clusterRows:
			l.reads[node].Add(1)
		case err == nil:
			l.f.t.Errorf("node %d answered 200 with %d of %d rows that it has shown before", node, len(ids), clusterRows)
		case strings.HasPrefix(err.Error(), "read: ") && !strings.HasPrefix(err.Error(), "read: 503"):
			l.f.t.Errorf("node %d: %v", node, err)
		default:
			l.pause(50 * time.Millisecond)
		}
	}
}

// answered returns the n-th batch that was answered with 200.
func (l *clusterLoad) answered(n int) (systemtest.Batch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.pushed {
		if !b.Answered {
			continue
		}
		if n == 0 {
			return b, true
		}
		n--
	}
	return systemtest.Batch{}, false
}

// agree checks that within ten seconds every node shows every batch that was acknowledged since the last call, and no partial
// batch.
func (f *fleet) agree(after string) {
	f.t.Helper()
	f.load.mu.Lock()
	batches := f.load.pushed[f.load.agreed:]
	f.load.agreed = len(f.load.pushed)
	f.load.mu.Unlock()
	deadline := time.Now().Add(10 * time.Second)
	f.check(after, batches, deadline)
}

// check checks that by the deadline every node shows exactly the acknowledged batches.
func (f *fleet) check(after string, batches []systemtest.Batch, deadline time.Time) {
	f.t.Helper()
	var group sync.WaitGroup
	for node, s := range f.nodes {
		group.Go(func() {
			c := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: 5 * time.Second}}
			defer c.HTTP.CloseIdleConnections()
			for _, b := range batches {
				for {
					ids, err := c.Near(b.Place())
					if err == nil && (len(ids) == clusterRows || len(ids) == 0 && !b.Answered) {
						break
					}
					if time.Now().After(deadline) {
						f.t.Errorf("%s: node %d has %d of %d rows of batch %d of feed %d, answered %v: %v\n%s",
							after, node, len(ids), clusterRows, b.Number, b.Feed, b.Answered, err, s.Log)
						return
					}
					<-time.After(20 * time.Millisecond)
				}
			}
		})
	}
	group.Wait()
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// goesOn checks that the nodes still answer reads, or writes if that is set.
func (f *fleet) goesOn(during string, writes bool, nodes ...int) {
	f.t.Helper()
	for _, node := range nodes {
		count := &f.load.reads[node]
		if writes {
			count = &f.load.writes[node]
		}
		before := count.Load()
		systemtest.Eventually(f.t, fmt.Sprintf("%s: node %d goes on (writes: %v)", during, node, writes), func() bool { return count.Load() > before+3 })
	}
}

// TestCluster stops one component after the other under load, and checks that no acknowledged write is lost, that reads continue
// where they can, and that all nodes agree again within ten seconds.
func TestCluster(t *testing.T) {
	t.Parallel()
	database := startDatabase(t)
	f := startFleet(t, 3, database.URL())
	f.startLoad()
	defer f.load.stop()
	f.goesOn("at first", true, 0, 1, 2)
	f.goesOn("at first", false, 0, 1, 2)
	f.agree("at first")

	t.Log("a node is killed")
	f.nodes[1].Kill()
	f.goesOn("a node is dead", true, 0, 2)
	f.nodes[1].Start(nil)
	f.goesOn("the node is back", true, 1)
	f.agree("a node was killed")

	t.Log("the database stops immediately")
	systemtest.Must(t, database.Stop(true))
	f.goesOn("the database is gone", false, 0, 1, 2)
	f.refusesWrites("the database is gone")
	systemtest.Must(t, database.Start())
	f.goesOn("the database is back", true, 0, 1, 2)
	f.agree("the database was gone")

	t.Log("the database restarts")
	systemtest.Must(t, database.Restart())
	f.goesOn("the database has restarted", true, 0, 1, 2)
	f.agree("the database restarted")

	t.Log("the cache stops")
	systemtest.Must(t, f.cache.Stop())
	f.goesOn("the cache is gone", true, 0, 1, 2)
	f.goesOn("the cache is gone", false, 0, 1, 2)
	systemtest.Must(t, f.cache.Start())
	f.agree("the cache was gone")

	t.Log("a node stands still for half a minute")
	systemtest.Must(t, f.nodes[2].Cmd.Process.Signal(syscall.SIGSTOP))
	for end := time.After(30 * time.Second); ; f.load.slow.Store(true) {
		f.goesOn("a node stands still", true, 0, 1)
		select {
		case <-end:
		case <-time.After(time.Second):
			continue
		}
		break
	}
	f.load.slow.Store(false)
	systemtest.Must(t, f.nodes[2].Cmd.Process.Signal(syscall.SIGCONT))
	f.goesOn("the node goes on", true, 2)
	f.agree("a node stood still")
	f.load.stop()
	f.check("in the end", f.load.pushed, time.Now().Add(10*time.Second))
}

// refusesWrites checks that a push through any node is answered with 503 and Retry-After.
func (f *fleet) refusesWrites(during string) {
	f.t.Helper()
	for node, s := range f.nodes {
		c := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: 20 * time.Second}}
		resp, body, err := c.Try(http.MethodPost, "/v2/feeds/"+f.feeds[node].Token+"/entities", systemtest.RowsAt(10, 10, "refused", 1))
		if err != nil {
			f.t.Fatalf("%s: node %d: %v", during, node, errors.Unwrap(err))
		}
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			f.t.Errorf("%s: node %d answered a push with %d %v %s", during, node, resp.StatusCode, resp.Header, body)
		}
	}
}
