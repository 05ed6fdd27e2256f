package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

func someone(last byte) ratelimit.Key {
	return ratelimit.ClientKey(ratelimit.HeldBytes, netip.AddrFrom4([4]byte{192, 0, 2, last}))
}

// everything requests a route of 100 places with everything that an answer may contain: 6 MiB by the estimate.
func everything(t *testing.T) string {
	return "/v2/navigation/route/v1/driving/" + strings.TrimSuffix(strings.Repeat(httpapitest.PathOf(t, "12")+";", 50), ";") +
		"?steps=true&annotations=true&overview=full&geometries=geojson"
}

// TestRoutesWaitForMemory checks that a large answer of navigation is refused while others hold the memory that it needs, is
// answered afterwards, and leaves nothing held. Small answers never wait, and strangers cannot fill the log (T10).
func TestRoutesWaitForMemory(t *testing.T) {
	part := budget.New(8<<20).Part(8<<20, 8<<20)
	var log bytes.Buffer
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Memory.Routes, d.Log = part, slog.New(slog.NewTextHandler(&log, nil))
	})
	others, err := part.Take(t.Context(), someone(1), 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	resp, body := s.Get(everything(t))
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("with 2 of 8 MiB left: %d, Retry-After %q: %.200s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	if said := log.String(); said != "" {
		t.Errorf("the refusal is in the log: %s", said)
	}
	if resp, body := s.Get("/v2/navigation/route/v1/driving/" + httpapitest.PathOf(t, "12") + "?steps=true"); resp.StatusCode != http.StatusOK {
		t.Errorf("a small answer waited: %d: %.200s", resp.StatusCode, body)
	}
	others.Release()
	if resp, body := s.Get(everything(t)); resp.StatusCode != http.StatusOK {
		t.Errorf("with 8 MiB left: %d: %.200s", resp.StatusCode, body)
	}
	waitUntil(t, "memory is still held", func() bool { return part.Held() == 0 })
}

// TestOneCallerLeavesMemory checks that a caller who holds the share of a caller gets 429.
func TestOneCallerLeavesMemory(t *testing.T) {
	part := budget.New(32<<20).Part(32<<20, 8<<20)
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Memory.Routes = part
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	hold, err := part.Take(t.Context(), someone(1), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	if resp, body := s.Get(everything(t), "X-Forwarded-For", "192.0.2.1"); resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("a caller beyond their share: %d: %.200s", resp.StatusCode, body)
	}
	if resp, body := s.Get(everything(t), "X-Forwarded-For", "192.0.2.2"); resp.StatusCode != http.StatusOK {
		t.Errorf("another caller: %d: %.200s", resp.StatusCode, body)
	}
}

func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); runtime.Gosched() {
		if time.Since(began) > time.Minute {
			t.Fatal(what)
		}
	}
}

// manyRows fills a service with 1 000 entities of 1 KB at one place.
func manyRows(t *testing.T, s *httpapitest.ReadService) string {
	t.Helper()
	f := httpapitest.Feed(1, nil)
	var all []mapdata.Entity
	for i := range 1000 {
		e := httpapitest.Entity(t, f, fmt.Sprintf("large:%d", i), "camera.speed", 52.1, 4.9)
		e.Properties = []byte(`{"note":"` + strings.Repeat("n", 1000) + `"}`)
		all = append(all, e)
	}
	s.AddFeed(f, all...)
	return "/v2/entities/nearby?lat=52.1&lng=4.9&radius=1000&limit=1000"
}

// TestUnreadAnswersMakeRoom checks that clients that read nothing hold no more than a part of the memory, and that others are
// answered meanwhile, because an answer that its client does not read is given up after a second.
func TestUnreadAnswersMakeRoom(t *testing.T) {
	const limit = 4 << 20
	all := budget.New(limit)
	part := all.Part(limit, limit)
	s := httpapitest.NewReadService(t, func(d *public.Deps) {
		d.Memory.Reads, d.TrustedProxies = part, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	path := manyRows(t, s)
	for i := range 3 { // as many as there is memory for
		readNothing(t, s, path, i)
	}
	waitUntil(t, "no answer waits for its client", func() bool { return part.Held() > limit/2 })
	for range 3 {
		if resp, body := s.Get(path, "X-Forwarded-For", "192.0.2.100"); resp.StatusCode != http.StatusOK || len(body) < 1_000_000 {
			t.Errorf("beside clients that read nothing: %d, %d bytes", resp.StatusCode, len(body))
		}
	}
	for i := range 20 {
		readNothing(t, s, path, i)
	}
	waitUntil(t, "no answer waits for its client", func() bool { return part.Held() > limit/2 })
	if resp, body := s.Get(strings.Replace(path, "limit=1000", "limit=20", 1), "X-Forwarded-For", "192.0.2.100"); resp.StatusCode != http.StatusOK {
		t.Errorf("a small read waits behind large ones: %d: %.200s", resp.StatusCode, body)
	}
	if _, most := all.Held(); most > 3*limit/2 {
		t.Errorf("%d bytes were held, of at most %d and what was estimated too low", most, limit)
	}
}

// readNothing requests 22 MB of answers, more than the system's buffers hold, and reads none.
func readNothing(t *testing.T, s *httpapitest.ReadService, path string, number int) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", s.Server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the service may have closed it
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: wayside.test\r\nX-Forwarded-For: 192.0.2.%d\r\n\r\n", path, number)
	if _, err := conn.Write([]byte(strings.Repeat(request, 20))); err != nil {
		t.Fatal(err)
	}
}

// TestCompressedAnswersAreWhole checks that an answer is compressed before it is sent: it has its length, so that no compressor is held
// while the client reads.
func TestCompressedAnswersAreWhole(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	path := manyRows(t, s)
	for _, coding := range []string{"gzip", "zstd"} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", s.Server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: wayside.test\r\nAccept-Encoding: %s\r\n\r\n", path, coding); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.Header.Get("Content-Encoding") != coding || resp.ContentLength <= 0 || resp.ContentLength > 200_000 {
			t.Errorf("%s: Content-Encoding %q, Content-Length %d", coding, resp.Header.Get("Content-Encoding"), resp.ContentLength)
		}
	}
}

// TestLargeReadsTakeTurns checks that a read of many entities waits for its turn, which ends once its answer is made, and that a
// short read does not wait.
func TestLargeReadsTakeTurns(t *testing.T) {
	work := ratelimit.NewGate(1, 1)
	s := httpapitest.NewReadService(t, func(d *public.Deps) { d.Work = work })
	path := manyRows(t, s)
	done, err := work.Enter(t.Context(), someone(1), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan int, 1)
	go func() {
		resp, _ := s.Get(path)
		answered <- resp.StatusCode
	}()
	if resp, _ := s.Get(strings.Replace(path, "limit=1000", "limit=50", 1)); resp.StatusCode != http.StatusOK {
		t.Errorf("a short read: %d", resp.StatusCode)
	}
	if len(answered) != 0 {
		t.Error("a large read took no turn")
	}
	done()
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the large read: %d", status)
	}
	readNothing(t, s, path, 1) // it does not read its answers
	if resp, _ := s.Get(path); resp.StatusCode != http.StatusOK {
		t.Errorf("behind a client that reads nothing: %d", resp.StatusCode)
	}
}
