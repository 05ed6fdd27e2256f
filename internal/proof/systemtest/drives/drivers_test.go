package drives

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/proof/systemtest"
	"wayside/internal/roads/roadtest"
)

// ledCar is a guest on a drive, as the page begins it.
type ledCar struct {
	*systemtest.Client
	id    string
	place func(name string) [2]float64 // longitude, latitude
}

// lead begins a session for a guest.
func lead(t *testing.T, c *systemtest.Client, n *roadtest.Network, from, to string) *ledCar {
	t.Helper()
	place := func(name string) [2]float64 {
		p := n.Place(t, name)
		return [2]float64{p.Lng, p.Lat}
	}
	resp, body := c.Do(http.MethodPost, "/v2/navigation/sessions", map[string]any{"coordinates": [][2]float64{place(from), place(to)}, "steps": true})
	var begun struct{ ID string }
	if err := json.Unmarshal(body, &begun); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("begin a session: %d %s", resp.StatusCode, body)
	}
	return &ledCar{Client: c, id: begun.ID, place: place}
}

// tell sends the position between two places of the drawing, and returns the status.
func (c *ledCar) tell(from, to string) int {
	a, b := c.place(from), c.place(to)
	resp, _ := c.Do(http.MethodPut, "/v2/navigation/sessions/"+c.id+"/position", map[string]any{"lat": (a[1] + b[1]) / 2, "lng": (a[0] + b[0]) / 2})
	return resp.StatusCode
}

// TestTwoCarsBehindOneAddress checks that a guest's limits apply to two cars behind one address together, that both are guided
// through a busy minute within them, and that a car that asks without end takes nothing of the guidance of the other one.
func TestTwoCarsBehindOneAddress(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, "") // with the limits of the defaults
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	const address = "127.0.0.9"
	first, second := lead(t, s.From(address), town, "a", "d"), lead(t, s.From(address), town, "a", "d")
	cars := []*ledCar{first, second}
	ask := func(c *ledCar, path string) {
		t.Helper()
		if resp, body := c.Do(http.MethodGet, path, nil); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	at := first.place("b")
	for turn := range 6 { // ten seconds each, with the requests of a minute within a shorter time
		for _, car := range cars {
			if status := car.tell("a", "b"); status != http.StatusNoContent {
				t.Errorf("a position on the way: %d", status)
			}
			ask(car, fmt.Sprintf("/v2/alerts?lat=%.3f&lng=%.3f&speed=14&heading=90&session=%s", at[1], at[0], car.id))
			if turn%2 == 0 {
				ask(car, fmt.Sprintf("/v2/geocode/api?q=bridge%d", turn))
				ask(car, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", at[0], at[1], car.place("d")[0], car.place("d")[1]))
			}
			if turn == 5 {
				if status := car.tell("e", "f"); status != http.StatusOK {
					t.Errorf("a position beside the way: %d, want another route", status)
				}
			}
		}
	}

	// The first car's page is broken, and sends requests as fast as it can.
	const many = 200
	refused := 0
	for range many {
		if first.tell("a", "b") == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < many/2 {
		t.Errorf("of %d positions of one session, %d were refused", many, refused)
	}
	answered := 0
	began := time.Now()
	for range many {
		switch resp, body := first.Do(http.MethodGet, fmt.Sprintf("/v2/navigation/route/v1/driving/%f,%f;%f,%f", at[0], at[1], at[0]+0.001, at[1]), nil); resp.StatusCode {
		case http.StatusOK:
			answered++
		case http.StatusTooManyRequests:
			if resp.Header.Get("Retry-After") == "" {
				t.Fatalf("a refusal without Retry-After: %s", body)
			}
		default:
			t.Fatalf("a route: %d %s", resp.StatusCode, body)
		}
	}
	if most := 60 + int(time.Since(began).Seconds()) + 1; answered > most {
		t.Errorf("%d routes were found for one address, at most %d may be", answered, most)
	}
	if status := second.tell("e", "f"); status != http.StatusOK && status != http.StatusNoContent {
		t.Errorf("the other car's position: %d", status)
	}
	// The other car got another route a moment ago, and gets one again within five seconds, although the limit of its address is
	// used up.
	status, tick := second.tell("a", "b"), time.NewTicker(time.Second)
	defer tick.Stop()
	for giveUp := time.After(time.Minute); status == http.StatusNoContent; status = second.tell("a", "b") {
		select {
		case <-tick.C:
		case <-giveUp:
			status = http.StatusRequestTimeout
		}
		if status == http.StatusRequestTimeout {
			break
		}
	}
	if status != http.StatusOK {
		t.Errorf("the other car left its way: %d, want another route", status)
	}
	ask(second, fmt.Sprintf("/v2/alerts?lat=%.3f&lng=%.3f&speed=14&heading=90&session=%s", at[1], at[0], second.id))
	lead(t, s.From("127.0.0.10"), town, "a", "d") // another address has separate limits
}

// The size of the flood of sessions, and its cost.
const (
	floodAddresses   = 1_200 // twenty sessions of each are more than a node allows
	floodedSessions  = 40    // of each address
	floodConnections = 16
	floodMemory      = 450 << 20 // 20 000 sessions
)

// TestFloodOfSessions posts 48 000 sessions to the real binary, from 1 200 addresses, and checks that each address gets twenty, and
// the node holds as many as it may, that the others are answered with 429 and 503, that existing drives continue, and that memory
// stays bounded (D15.21, T2).
func TestFloodOfSessions(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("resident memory is read from /proc")
	}
	s := systemtest.NewService(t, "[limits]\nguest_routes_per_minute = 100000000\n")
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest := &systemtest.Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	led := lead(t, guest, town, "a", "d")
	if status := led.tell("a", "b"); status != http.StatusNoContent { // a session that was never used may be replaced after thirty seconds
		t.Fatalf("the first position: %d", status)
	}
	atRest := s.Memory(t, "VmRSS")

	a, d := led.place("a"), led.place("d")
	body := fmt.Sprintf(`{"coordinates":[[%f,%f],[%f,%f]],"steps":true,"overview":"full","annotations":true,"banner_instructions":true,"voice_instructions":true}`, a[0], a[1], d[0], d[1])
	request := fmt.Sprintf("POST /v2/navigation/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	statuses := make([]map[int]int, floodConnections)
	began := time.Now()
	var posting sync.WaitGroup
	for i := range statuses {
		posting.Go(func() {
			statuses[i] = map[int]int{}
			for address := i; address < floodAddresses; address += floodConnections {
				if err := postAgain(statuses[i], s.Base, net.IPv4(127, 9, byte(address>>8), byte(address)), request, floodedSessions); err != nil {
					t.Error(err)
				}
			}
		})
	}
	posting.Wait()
	sum := map[int]int{}
	for _, one := range statuses {
		for status, count := range one {
			sum[status] += count
		}
	}
	grown := s.Memory(t, "VmHWM") - atRest
	t.Logf("%v in %v, %d MiB more at the peak", sum, time.Since(began).Round(time.Millisecond), grown>>20)
	created, refused := sum[http.StatusCreated], sum[http.StatusTooManyRequests]+sum[http.StatusServiceUnavailable]
	// On a busy machine the flood takes longer than thirty seconds: then sessions that were never used are replaced.
	if created < session.MaxSessions-1 || created > floodAddresses*session.MaxPerAddress || created+refused != floodAddresses*floodedSessions || sum[http.StatusTooManyRequests] == 0 {
		t.Errorf("answers %v, want %d sessions or a few more, and 429 or 503 for all others", sum, session.MaxSessions-1)
	}
	if grown > floodMemory {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if status := led.tell("a", "b"); status != http.StatusNoContent {
		t.Errorf("the position of a driver who is led: %d", status)
	}
	if got := routeOf(guest, town, "a", "d"); got.Code != "Ok" {
		t.Errorf("a route: %+v", got)
	}
	guest.Do(http.MethodDelete, "/v2/navigation/sessions/"+led.id, nil)
	lead(t, guest, town, "a", "d") // there is room again
}

// postAgain sends a request the given number of times on one connection, and counts the answers by status.
func postAgain(statuses map[int]int, base string, from net.IP, request string, times int) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := dialer.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for range times {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		statuses[resp.StatusCode]++
	}
	return nil
}
