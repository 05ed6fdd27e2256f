package region

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// namedBridges returns a town with three bridges between the same two places; the farther south, the longer the way. All roads have
// the word in their names.
func namedBridges(t *testing.T, word string) *roadtest.Network {
	return roadtest.MapAt(t, geo.Point{Lat: 45, Lng: 9}, 100, `
		a--b-----c--d
		   |     |
		   e-----f
		   |     |
		   g-----h
	`,
		roadtest.Ways("ab cd be fc eg hf", "highway=residential, name="+word+" Street"),
		roadtest.Way("bc", "highway=residential, name="+word+" North"),
		roadtest.Way("ef", "highway=residential, name="+word+" Middle"),
		roadtest.Way("gh", "highway=residential, name="+word+" South"),
	)
}

// bridgeRoute requests the way over one of the bridges, and returns the version of the data and the words of the roads' names; no
// words: there is no route.
func bridgeRoute(c *systemtest.Client, town *roadtest.Network) (version, word, bridge string, err error) {
	from, to := town.Place(c.Service.T, "a"), town.Place(c.Service.T, "d")
	resp, body, err := c.Try(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f?steps=true", from.Lng, from.Lat, to.Lng, to.Lat), nil)
	if err != nil {
		return "", "", "", err
	}
	var got struct {
		Code        string
		DataVersion string `json:"data_version"`
		Routes      []struct {
			Legs []struct{ Steps []struct{ Name string } }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Code == "NoRoute" {
		return got.DataVersion, "", "", err
	}
	if resp.StatusCode != http.StatusOK || len(got.Routes) != 1 || len(got.Routes[0].Legs) != 1 {
		return "", "", "", fmt.Errorf("%d %s", resp.StatusCode, body)
	}
	for _, step := range got.Routes[0].Legs[0].Steps {
		first, last, _ := strings.Cut(step.Name, " ")
		if word != "" && first != word {
			return "", "", "", fmt.Errorf("a route over roads of %q and %q: %s", word, first, body)
		}
		word = first
		if last != "Street" {
			bridge = last
		}
	}
	return got.DataVersion, word, bridge, nil
}

// regionNodes is three nodes that share database and cache, each with a region in its own folder.
type regionNodes struct {
	t     *testing.T
	nodes []*systemtest.Service
	ops   []string
	town  *roadtest.Network
	file  map[string]string // extracts, by the word of their names
	words sync.Map          // by data version
}

// importOn imports the town with a word in its names on one node.
func (f *regionNodes) importOn(s *systemtest.Service, word string) string {
	f.t.Helper()
	if f.file[word] == "" {
		f.file[word] = writeFile(f.t, word+".osm.pbf", namedBridges(f.t, word).PBF(f.t))
	}
	done := importRegion(s, f.file[word])
	f.words.Store(done.Version, word)
	return done.Version
}

// driveOver waits until a node's routes lead over a bridge; empty: there is no route.
func (f *regionNodes) driveOver(node int, bridge, what string) {
	f.t.Helper()
	c := &systemtest.Client{Service: f.nodes[node], HTTP: http.Client{Timeout: 5 * time.Second}}
	began := time.Now()
	systemtest.Eventually(f.t, fmt.Sprintf("%s: node %d", what, node), func() bool {
		_, _, got, err := bridgeRoute(c, f.town)
		return err == nil && got == bridge
	})
	f.t.Logf("%s: node %d after %v", what, node, time.Since(began).Round(time.Millisecond))
}

// serves checks that all nodes report the same data version in metrics and on the status page.
func (f *regionNodes) serves(version string) {
	f.t.Helper()
	for node, s := range f.nodes {
		label := fmt.Sprintf("data_version=%q", version)
		systemtest.Eventually(f.t, fmt.Sprintf("the metrics of node %d have %s", node, label), func() bool {
			return strings.Contains(systemtest.Get(f.t, "http://"+f.ops[node]+"/metrics"), label)
		})
		if page := systemtest.Get(f.t, s.Base+"/status"); !strings.Contains(page, version) {
			f.t.Errorf("the status page of node %d does not name %s", node, version)
		}
	}
}

// differ waits until every node reports whether another one serves another region.
func (f *regionNodes) differ(differs bool) {
	f.t.Helper()
	want := "wayside_region_nodes_differ 0\n"
	if differs {
		want = "wayside_region_nodes_differ 1\n"
	}
	for node, s := range f.nodes {
		systemtest.WithinWindows(f.t, 100*time.Millisecond, fmt.Sprintf("node %d: %s", node, want), func() bool {
			return strings.Contains(systemtest.Get(f.t, "http://"+f.ops[node]+"/metrics"), want)
		})
		if page := systemtest.Get(f.t, s.Base+"/status"); strings.Contains(page, "The servers have different road data") != differs {
			f.t.Errorf("the status page of node %d: %v is not told", node, differs)
		}
	}
}

// underLoad makes drivers request routes from every node while do runs. No answer may be refused, mix two regions, or lead over
// another bridge.
func (f *regionNodes) underLoad(bridge string, do func()) {
	f.t.Helper()
	var group sync.WaitGroup
	var answers atomic.Int64
	ended := make(chan struct{})
	for node, s := range f.nodes {
		group.Go(func() {
			c := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: 5 * time.Second}}
			defer c.HTTP.CloseIdleConnections()
			for {
				select {
				case <-ended:
					return
				case <-time.After(2 * time.Millisecond):
				}
				version, word, got, err := bridgeRoute(c, f.town)
				if want, known := f.words.Load(version); err != nil || known && want != word || got != bridge {
					f.t.Errorf("node %d: version %q (%v) with a route of %q over %q, want %q: %v", node, version, want, word, got, bridge, err)
					return
				}
				answers.Add(1)
			}
		})
	}
	do()
	close(ended)
	group.Wait()
	f.t.Logf("%d routes were answered meanwhile", answers.Load())
}

// TestNodesRouteAlike checks three nodes with the same region: their routes follow the entities that are pushed to any of them and
// the incidents that an upstream returns to any of them. It changes the region twice while clients request routes from all nodes.
func TestNodesRouteAlike(t *testing.T) {
	t.Parallel()
	upstream := systemtest.StartProvider(t, "roadworks")
	f := &regionNodes{t: t, file: map[string]string{}, town: namedBridges(t, "First")}
	var configs []string
	for range 3 {
		f.ops = append(f.ops, systemtest.FreeAddress(t))
		configs = append(configs, fmt.Sprintf("%s\n[ops]\nlisten = %q\n%s", systemtest.Unlimited, f.ops[len(f.ops)-1], upstream.AsUpstream("incidents")))
	}
	var version string
	f.nodes, _ = systemtest.StartNodesWith(t, configs, servers.Postgres(t).Database(t), func(s *systemtest.Service) {
		systemtest.Must(t, os.MkdirAll(filepath.Dir(s.Dir), 0o700))
		version = f.importOn(s, "First")
	})
	for node := range f.nodes {
		f.driveOver(node, "North", "at the start")
	}
	f.serves(version)
	f.differ(false)

	owner := f.nodes[0].SignIn("owner@example.org")
	feed := owner.Register("closures")
	north := middleOf(t, f.town, "b", "c")
	closed := []systemtest.Row{{ExternalID: "north", Kind: "alert.road_closed", Lat: north.Lat, Lng: north.Lng, Properties: map[string]any{}}}
	if resp, body := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", closed); resp.StatusCode != http.StatusOK {
		t.Fatalf("push: %d %s", resp.StatusCode, body)
	}
	for node := range f.nodes {
		f.driveOver(node, "Middle", "a closure pushed to node 0")
	}

	middle := middleOf(t, f.town, "e", "f")
	upstream.Say(fmt.Sprintf(`{"external_id":"middle","kind":"alert.road_closed","lat":%f,"lng":%f,"properties":{}}`, middle.Lat, middle.Lng))
	reader, radius := &systemtest.Client{Service: f.nodes[1], HTTP: http.Client{Timeout: 5 * time.Second}}, 1000
	systemtest.Eventually(t, "node 1 asks the upstream", func() bool {
		radius += 100
		_, body := reader.Do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=%d", middle.Lat, middle.Lng, radius), nil)
		return strings.Contains(string(body), `"middle"`)
	})
	for node := range f.nodes {
		f.driveOver(node, "South", "a closure that an upstream told node 1")
	}

	for _, word := range []string{"Second", "Third"} {
		f.underLoad("South", func() {
			next := f.importOn(f.nodes[0], word)
			if next == version {
				t.Errorf("%s has the version of the region before", word)
			}
			systemtest.Eventually(t, "node 0 serves "+word, func() bool { return f.wordOf(0) == word })
			f.differ(true)
			for node := range f.nodes[1:] {
				if got := f.importOn(f.nodes[node+1], word); got != next {
					t.Errorf("node %d made version %s of the same extract, not %s", node+1, got, next)
				}
			}
			for node := range f.nodes {
				systemtest.Eventually(t, fmt.Sprintf("node %d serves %s", node, word), func() bool { return f.wordOf(node) == word })
			}
			version = next
			f.serves(version)
			f.differ(false)
		})
	}
}

// wordOf returns the word in the names of a node's region.
func (f *regionNodes) wordOf(node int) string {
	c := &systemtest.Client{Service: f.nodes[node], HTTP: http.Client{Timeout: 5 * time.Second}}
	defer c.HTTP.CloseIdleConnections()
	_, word, _, _ := bridgeRoute(c, f.town) //nolint:dogsled // the others are checked under load
	return word
}

// middleOf returns the place between two nodes of a drawing.
func middleOf(t *testing.T, n *roadtest.Network, from, to string) geo.Point {
	a, b := n.Place(t, from), n.Place(t, to)
	return geo.Point{Lat: (a.Lat + b.Lat) / 2, Lng: (a.Lng + b.Lng) / 2}
}
