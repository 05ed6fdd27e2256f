package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

const (
	epochRows    = 20 // of each feed
	epochReaders = 8
	epochChanges = 3
	epochMinimum = 20 // reads per second: thousands on an idle machine, few beside other tests with the race detector
)

// TestEpochChangesUnderReads changes the epoch of the store, as a restore or a failover does, while drivers read, vote and watch a
// stream, and while one feed is deleted and another approved. The nodes load everything again. The test checks that no read fails
// or lacks a pin, that no vote shows on another pin, and that the stream sends only differences. All feeds use the same external
// ids, so that a vote that is kept by position instead of by identity would show on the wrong feed.
func TestEpochChangesUnderReads(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		s := systemtest.StartService(t, systemtest.ManyVotes)
		runEpochDrill(t, s, func() {
			store, err := sqlite.Open(t.Context(), filepath.Join(s.Dir, datadir.DatabaseFile), sqlite.Options{})
			systemtest.Must(t, err)
			defer store.Close()
			systemtest.Must(t, store.NewEpoch(t.Context()))
		})
	})
	t.Run("postgres", func(t *testing.T) {
		database := servers.Postgres(t).Database(t)
		nodes, _ := systemtest.StartNodes(t, 1, systemtest.ManyVotes, database)
		runEpochDrill(t, nodes[0], func() {
			conn, err := pgx.Connect(t.Context(), database)
			systemtest.Must(t, err)
			defer conn.Close(context.Background())
			_, err = conn.Exec(t.Context(), `UPDATE state SET epoch = replace(gen_random_uuid()::text, '-', '')`)
			systemtest.Must(t, err)
		})
	})
}

// epochDrill is the state of a drill.
type epochDrill struct {
	t     *testing.T
	s     *systemtest.Service
	owner *systemtest.Client
	voter *systemtest.Client // nobody votes on entities of their own feeds (D9.8)
	reads atomic.Int64

	mu    sync.Mutex
	feeds map[string]*drillFeed // by name
	votes map[string]int        // confirms that were answered, by feed and external id
	cast  map[string]int        // confirms that were begun
}

// drillFeed is a feed of the drill. Readers may miss its pins before it is shown, and after it is deleted.
type drillFeed struct {
	systemtest.PushFeed
	shown, deleted bool
	ids            map[string]string // entity ids by external id
}

func runEpochDrill(t *testing.T, s *systemtest.Service, changeEpoch func()) {
	d := &epochDrill{
		t: t, s: s, owner: s.SignIn("owner@example.org"), voter: s.SignIn("voter@example.org"),
		feeds: make(map[string]*drillFeed), votes: make(map[string]int), cast: make(map[string]int),
	}
	d.add("first")
	d.add("second")
	// Each feed has votes on other pins than the other feed.
	for i := range 5 {
		d.confirm("first", i)
		d.confirm("second", i+5)
	}
	events, _ := s.ListenTo()
	systemtest.WaitFor(t, events, "snapshot", "")
	ended := make(chan struct{})
	var load sync.WaitGroup
	for range epochReaders {
		load.Go(func() { d.read(ended) })
	}
	began := time.Now()
	for n := range epochChanges {
		changeEpoch()
		switch n {
		case 0:
			d.remove("first") // the places of all later feeds change
		case 1:
			d.add("third")
		}
		// The vote is stored after the change of the epoch, so that a node that shows it has loaded everything again.
		d.confirm("second", 10+n)
	}
	took := time.Since(began)
	close(ended)
	load.Wait()
	rate := float64(d.reads.Load()) / took.Seconds()
	t.Logf("%d changes of the epoch in %v under %.0f reads per second", epochChanges, took.Round(time.Millisecond), rate)
	if rate < epochMinimum {
		t.Errorf("%.0f reads per second, want at least %d", rate, epochMinimum)
	}
	d.checkStream(events)
}

// add registers a feed, pushes its rows, and waits until they are shown.
func (d *epochDrill) add(name string) {
	d.t.Helper()
	f := &drillFeed{PushFeed: d.owner.Register(name), ids: make(map[string]string)}
	d.mu.Lock()
	d.feeds[name] = f
	d.mu.Unlock()
	rows := make([]systemtest.Row, epochRows)
	for i := range rows {
		rows[i] = systemtest.Row{ExternalID: fmt.Sprint(i), Kind: "camera.speed", Lat: 52 + float64(i)*1e-5, Lng: 5, Properties: map[string]any{"feed": name}}
	}
	if resp, body := d.owner.Do(http.MethodPost, "/v2/feeds/"+f.Token+"/entities", rows); resp.StatusCode != http.StatusOK {
		d.t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: d.s, HTTP: http.Client{Timeout: time.Minute}}
	defer guest.HTTP.CloseIdleConnections()
	systemtest.Eventually(d.t, "the rows of feed "+name+" are shown", func() bool {
		pins, err := d.look(guest)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, p := range pins {
			if p.Properties["feed"] == name {
				f.ids[p.ExternalID] = p.ID
			}
		}
		return len(f.ids) == epochRows
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	f.shown = true
}

// remove deletes a feed, and waits until no pin of it is shown.
func (d *epochDrill) remove(name string) {
	d.t.Helper()
	d.mu.Lock()
	f := d.feeds[name]
	f.deleted = true
	d.mu.Unlock()
	if resp, body := d.owner.Do(http.MethodDelete, "/v2/feeds/"+f.ID, nil); resp.StatusCode != http.StatusNoContent {
		d.t.Fatalf("delete: %d %s", resp.StatusCode, body)
	}
	guest := &systemtest.Client{Service: d.s, HTTP: http.Client{Timeout: time.Minute}}
	defer guest.HTTP.CloseIdleConnections()
	systemtest.Eventually(d.t, "the deleted feed is not shown", func() bool {
		pins, err := d.look(guest)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, p := range pins {
			if p.Properties["feed"] == name {
				return false
			}
		}
		return true
	})
}

// confirm casts a vote, and waits until it is shown.
func (d *epochDrill) confirm(name string, number int) {
	d.t.Helper()
	key := name + " " + fmt.Sprint(number)
	d.mu.Lock()
	d.cast[key]++
	id := d.feeds[name].ids[fmt.Sprint(number)]
	d.mu.Unlock()
	d.voter.Vote(id, "confirm")
	guest := &systemtest.Client{Service: d.s, HTTP: http.Client{Timeout: time.Minute}}
	defer guest.HTTP.CloseIdleConnections()
	systemtest.Eventually(d.t, "the vote on "+key+" is shown", func() bool {
		pins, err := d.look(guest)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, p := range pins {
			if p.ID == id {
				return p.Confirms == 1
			}
		}
		return false
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes[key]++
}

// look reads the pins of the drill.
func (d *epochDrill) look(c *systemtest.Client) ([]systemtest.LiveEntity, error) {
	resp, body, err := c.Try(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=2000&limit=1000", nil)
	if err != nil {
		return nil, err
	}
	var got struct{ Entities []systemtest.LiveEntity }
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read: %d %.200s", resp.StatusCode, body)
	}
	return got.Entities, nil
}

// read reads repeatedly until ended is closed, and compares each answer with the state before and after it.
func (d *epochDrill) read(ended <-chan struct{}) {
	c := &systemtest.Client{Service: d.s, HTTP: http.Client{Timeout: time.Minute, Transport: &http.Transport{}}}
	defer c.HTTP.CloseIdleConnections()
	for failures := 0; failures < 3; {
		select {
		case <-ended:
			return
		default:
		}
		want := d.expected()
		pins, err := d.look(c)
		if err != nil {
			d.t.Error(err)
			failures++
			continue
		}
		d.reads.Add(1)
		if wrong := d.compare(want, pins); wrong != "" {
			d.t.Error(wrong)
			failures++
		}
	}
}

// expected returns the pins that every later answer must contain, each with the least number of its votes, unless their feed is
// deleted meanwhile.
func (d *epochDrill) expected() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	want := make(map[string]int)
	for name, f := range d.feeds {
		if f.shown && !f.deleted {
			for i := range epochRows {
				key := name + " " + fmt.Sprint(i)
				want[key] = d.votes[key]
			}
		}
	}
	return want
}

// compare describes the fault of an answer; empty if it is right.
func (d *epochDrill) compare(want map[string]int, pins []systemtest.LiveEntity) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range pins {
		p := &pins[i]
		name, _ := p.Properties["feed"].(string)
		key := name + " " + p.ExternalID
		if p.Confirms < want[key] || p.Confirms > d.cast[key] || p.Disputes != 0 {
			return fmt.Sprintf("%s shows %d confirms and %d disputes, want %d to %d and 0", key, p.Confirms, p.Disputes, want[key], d.cast[key])
		}
		delete(want, key)
	}
	for key := range want {
		name, _, _ := strings.Cut(key, " ")
		if !d.feeds[name].deleted {
			return fmt.Sprintf("an answer with %d pins lacks %d that were shown before, such as %s", len(pins), len(want), key)
		}
	}
	return ""
}

// checkStream checks that a stream sent only differences: the pins of the deleted feed are gone, those of the new one appear, and
// the others change only by votes.
func (d *epochDrill) checkStream(events <-chan systemtest.Event) {
	d.t.Helper()
	gone, appeared, votes := make(map[string]bool), make(map[string]bool), make(map[string]int)
	deadline := time.After(time.Minute)
	for len(gone) < epochRows || len(appeared) < epochRows || len(votes) < epochChanges {
		select {
		case e, ok := <-events:
			if !ok {
				d.t.Fatal("the stream ended")
			}
			switch e.Name {
			case "gone":
				d.checkGone(e.Data, gone)
			case "entity":
				d.checkEntity(e.Data, appeared, votes)
			case "snapshot":
				d.t.Errorf("the stream sent another snapshot")
			}
		case <-deadline:
			d.t.Fatalf("the stream sent %d removed, %d new and %d voted pins; want %d, %d and %d",
				len(gone), len(appeared), len(votes), epochRows, epochRows, epochChanges)
		}
	}
}

func (d *epochDrill) checkGone(data string, gone map[string]bool) {
	for _, id := range d.feeds["first"].ids {
		if strings.Contains(data, fmt.Sprintf("%q", id)) {
			if gone[id] {
				d.t.Errorf("sent twice: %s", data)
			}
			gone[id] = true
			return
		}
	}
	d.t.Errorf("the stream removed a pin that still exists: %s", data)
}

func (d *epochDrill) checkEntity(data string, appeared map[string]bool, votes map[string]int) {
	var p systemtest.LiveEntity
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		d.t.Fatalf("%s: %v", data, err)
	}
	name, _ := p.Properties["feed"].(string)
	key := name + " " + p.ExternalID
	switch {
	case name == "third" && !appeared[key] && p.Confirms == 0:
		appeared[key] = true
	case name == "second" && p.Confirms == 1 && votes[key] == 0 && d.cast[key] == 1 && len(key) == len("second 10"):
		votes[key] = p.Confirms
	default:
		d.t.Errorf("the stream sent an unchanged pin: %s", data)
	}
}
