package drives

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// publishedWait is how long the answer to a change waits at most until its node shows the change. On a busy machine an answer that
// took longer may have given up.
const publishedWait = 50 * time.Millisecond

// TestPushesAreShownWithTheirAnswer pushes, retires, closes and opens for 60 rounds (twelve times $ROUNDS): each answer within
// publishedWait is in the next read, route and stream of its node (D3.4, D12.7). Before answers waited, a read after a retirement
// showed the pin in one of five rounds, and a route after a closure nearly always drove through it.
func TestPushesAreShownWithTheirAnswer(t *testing.T) {
	t.Parallel()
	const limits = "[limits]\nguest_reads_per_minute = 1000000\nguest_routes_per_minute = 1000000\npushes_per_minute = 1000000\nmanage_per_minute = 100000\n"
	for name, database := range map[string]func(t *testing.T) string{
		"sqlite": func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string {
			return fmt.Sprintf("[database]\nurl = %q\n", servers.Postgres(t).Database(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := systemtest.NewService(t, limits+database(t))
			town := twoBridges(t)
			s.ImportDrawing(town)
			s.Start(nil)
			p := &publishedRounds{t: t, s: s, guest: &systemtest.Client{Service: s}, owner: s.SignIn("owner@example.org"), town: town}
			p.bridge = geo.Between(town.Place(t, "b"), town.Place(t, "c"), 0.5)
			p.feed = p.owner.Register("closures")
			for round := range 12 * systemtest.Rounds(t) {
				p.round(round)
			}
			t.Logf("%d answers were checked, %d took longer than %v", p.checked, p.late, publishedWait)
			p.others()
		})
	}
}

// publishedRounds is a service whose answers the test checks.
type publishedRounds struct {
	t             *testing.T
	s             *systemtest.Service
	guest, owner  *systemtest.Client
	town          *roadtest.Network
	bridge        geo.Point
	feed          systemtest.PushFeed
	checked, late int
}

// round pushes a closed bridge and retires it. In every tenth round it opens a stream after each change, too.
func (p *publishedRounds) round(number int) {
	pin := map[string]any{"external_id": fmt.Sprint("bridge", number), "kind": "alert.road_closed", "lat": p.bridge.Lat, "lng": p.bridge.Lng, "properties": map[string]any{}}
	push := "/v2/feeds/" + p.feed.Token + "/entities"
	p.change(http.MethodPost, push, []any{pin}, true, number%10 == 0)
	pin["ttl_seconds"] = 1
	p.change(http.MethodPost, push, []any{pin}, false, number%10 == 0)
}

// change makes a change, and checks that the next read, route and stream show the bridge closed or open. It does not check an
// answer that may have given up waiting.
func (p *publishedRounds) change(method, path string, body any, closed, stream bool) {
	p.t.Helper()
	began := time.Now()
	resp, answer := p.owner.Do(method, path, body)
	took := time.Since(began)
	if resp.StatusCode/100 != 2 || strings.Contains(string(answer), `"rejected":1`) {
		p.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	p.checked++
	if took >= publishedWait {
		p.late++
		systemtest.Eventually(p.t, path, func() bool {
			r := routeOf(p.guest, p.town, "a", "d")
			return r.detours() == closed
		})
		return
	}
	ids, err := p.guest.Near(p.bridge.Lat, p.bridge.Lng)
	if err != nil || (len(ids) > 0) != closed {
		p.t.Errorf("change %d, closed: %t: the next read has %v, %v", p.checked, closed, ids, err)
	}
	if r := routeOf(p.guest, p.town, "a", "d"); r.detours() != closed {
		p.t.Errorf("change %d, closed: %t: the next route is not of it", p.checked, closed)
	}
	if stream {
		if first := p.firstEvent(); strings.Contains(first, "bridge") != closed {
			p.t.Errorf("change %d, closed: %t: the next stream begins with %.300s", p.checked, closed, first)
		}
	}
}

// firstEvent opens a stream, and returns the data of its first event.
func (p *publishedRounds) firstEvent() string {
	p.t.Helper()
	resp, err := http.Get(fmt.Sprintf("%s/v2/stream?lat=%f&lng=%f&radius=1000", p.s.Base, p.bridge.Lat, p.bridge.Lng))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return data
		}
	}
	p.t.Fatal("the stream has no event")
	return ""
}

// others checks the other changes that remove pins: feeds that are made private or deleted.
func (p *publishedRounds) others() {
	pin := map[string]any{"external_id": "bridge", "kind": "alert.road_closed", "lat": p.bridge.Lat, "lng": p.bridge.Lng, "properties": map[string]any{}}
	for i := range 20 {
		feed := p.owner.Register(fmt.Sprint("feed ", i))
		p.change(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", []any{pin}, true, false)
		if i%2 == 0 {
			p.change(http.MethodPatch, "/v2/feeds/"+feed.ID, map[string]any{"visibility": "private"}, false, false)
		}
		p.change(http.MethodDelete, "/v2/feeds/"+feed.ID, nil, false, false)
	}
}
