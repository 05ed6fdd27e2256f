package feeds

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"wayside/internal/proof/systemtest"
)

// publisher publishes documents in other formats over TLS, and counts the requests for them.
type publisher struct {
	server  *httptest.Server
	egress  string // configuration of the services that poll it
	base    string
	hangs   chan struct{} // receives a value when a request hangs in the middle of a document
	release chan struct{} // lets hanging requests continue

	mu    sync.Mutex
	asked map[string]int // by path and query
}

func startPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{asked: make(map[string]int), hangs: make(chan struct{}, 8), release: make(chan struct{})}
	p.server = httptest.NewTLSServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.server.Close)
	t.Cleanup(func() { close(p.release) })
	ca := filepath.Join(t.TempDir(), "ca.pem")
	systemtest.Must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}), 0o600))
	p.egress = fmt.Sprintf("[egress]\nca_file = %q\nhosts = { \"example.com\" = \"127.0.0.1\" }\n", ca)
	_, port, err := net.SplitHostPort(p.server.Listener.Addr().String())
	systemtest.Must(t, err)
	p.base = "https://example.com:" + port
	return p
}

// answer publishes sites on three OCPI pages, a table with its statuses, and events on two pages, all at one place. The query
// selects a fault of the second OCPI page.
func (p *publisher) answer(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked[r.URL.RequestURI()]++
	p.mu.Unlock()
	switch r.URL.Path {
	case "/1", "/2", "/3":
		p.locations(w, r)
	case "/table":
		_, _ = io.WriteString(w, `{"payload":[{"egiEnergyInfrastructureTablePublication":{"energyInfrastructureTable":[{"idG":"t","energyInfrastructureSite":[{"idG":"site",
			"locationReference":{"locPointLocation":{"pointByCoordinates":{"pointCoordinates":{"latitude":52.1,"longitude":5.1}}}},
			"energyInfrastructureStation":[{"idG":"s","refillPoint":[{"egiElectricChargingPoint":{"idG":"p","connector":[{"connectorType":{"value":"chademo"},"maxPowerAtSocket":50000}]}}]}]}]}]}}]}`)
	case "/status":
		_, _ = io.WriteString(w, `{"messageContainer":{"payload":[{"aegiEnergyInfrastructureStatusPublication":{"energyInfrastructureSiteStatus":[{"reference":{"idG":"site"},
			"energyInfrastructureStationStatus":[{"reference":{"idG":"s"},"refillPointStatus":[{"egiElectricChargingPointStatus":{"reference":{"idG":"p"},"lastUpdated":"2026-03-01T11:50:00Z","status":{"value":"available"}}}]}]}]}}]}}`)
	case "/events", "/more":
		next := ""
		if r.URL.Path == "/events" {
			next = `,"pagination":{"next_url":"/more"}`
		}
		_, _ = fmt.Fprintf(w, `{"events":[{"id":"o%s","status":"ACTIVE","event_type":"INCIDENT","geography":{"type":"Point","coordinates":[5.1,52.1]}}]%s}`, strings.ReplaceAll(r.URL.Path, "/", "-"), next)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *publisher) locations(w http.ResponseWriter, r *http.Request) {
	page, wrong := r.URL.Path, r.URL.Query().Get("wrong")
	next := map[string]string{"/1": "/2", "/2": "/3"}[page]
	if page == "/2" {
		switch wrong {
		case "loops":
			next = "/1"
		case "leaves":
			next = "https://example.org/3"
		case "fails":
			w.WriteHeader(http.StatusInternalServerError)
			return
		case "breaks off":
			_, _ = io.WriteString(w, `{"status_code":1000,"data":[{"id":"half",`)
			return
		case "hangs":
			_, _ = io.WriteString(w, `{"status_code":1000,"data":[{"id":"half",`)
			_ = http.NewResponseController(w).Flush()
			p.hangs <- struct{}{}
			select {
			case <-p.release:
			case <-r.Context().Done():
			}
			return
		}
	}
	if wrong != "" && !strings.HasPrefix(next, "https:") {
		next += "?" + r.URL.RawQuery
	}
	if next != "" && page != "/3" {
		w.Header().Set("Link", "<"+next+`>; rel="next"`)
	}
	_, _ = fmt.Fprintf(w, `{"status_code":1000,"data":[{"id":"L%s%s","publish":true,"coordinates":{"latitude":"52.1","longitude":"5.1"},
		"evses":[{"uid":"1","status":"AVAILABLE","connectors":[{"id":"1","power_type":"DC","max_electric_power":150000}]}]}]}`, strings.ReplaceAll(page, "/", ""), wrong)
}

// wasAsked returns the requests since the last call, by path and query.
func (p *publisher) wasAsked() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = make(map[string]int)
	return asked
}

// follow registers a pull feed of a document in another format, and returns the feed's id.
func follow(t *testing.T, c *systemtest.Client, members map[string]any) string {
	t.Helper()
	feed := map[string]any{"name": "Open data", "direction": "pull", "visibility": "public", "charger_network": "none"}
	if members["format"] == "open511" {
		delete(feed, "charger_network")
	}
	maps.Copy(feed, members)
	resp, body := c.Do(http.MethodPost, "/v2/feeds", feed)
	var got struct{ Feed struct{ ID string } }
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	c.Service.CLI("feed", "approve", got.Feed.ID)
	return got.Feed.ID
}

// sees waits until a guest of the service reads these ids at the place of all documents.
func sees(s *systemtest.Service, when string, want ...string) {
	s.T.Helper()
	guest := &systemtest.Client{Service: s}
	slices.Sort(want)
	systemtest.Eventually(s.T, when+": "+strings.Join(want, ","), func() bool {
		ids, err := guest.Near(52.1, 5.1)
		slices.Sort(ids)
		return err == nil && slices.Equal(ids, want)
	})
}

// TestNodesPollDocumentsOnce checks that one of three nodes fetches all pages and the status document of a poll, each once, and
// that all nodes show the resulting entities.
func TestNodesPollDocumentsOnce(t *testing.T) {
	t.Parallel()
	p := startPublisher(t)
	nodes, _ := systemtest.StartNodes(t, 3, systemtest.Unlimited+p.egress, servers.Postgres(t).Database(t))
	owner := nodes[0].SignIn("owner@example.org")
	follow(t, owner, map[string]any{"format": "ocpi", "pull_url": p.base + "/1"})
	follow(t, owner, map[string]any{"format": "datex2-energy", "pull_url": p.base + "/table", "status_url": p.base + "/status"})
	follow(t, owner, map[string]any{"format": "open511", "pull_url": p.base + "/events"})
	for _, n := range nodes {
		sees(n, "all documents", "L1", "L2", "L3", "site", "o-events", "o-more")
	}
	want := map[string]int{"/1": 1, "/2": 1, "/3": 1, "/table": 1, "/status": 1, "/events": 1, "/more": 1}
	if got := p.wasAsked(); !maps.Equal(got, want) {
		t.Errorf("asked were %v", got)
	}
	for _, n := range nodes {
		_, body := (&systemtest.Client{Service: n}).Do(http.MethodGet, "/v2/entities/nearby?lat=52.1&lng=5.1&radius=100", nil)
		if !strings.Contains(string(body), `"available":1`) {
			t.Errorf("a node does not know the site's status: %s", body)
		}
	}
}

// TestBadPagesLeaveThePicture polls pages that loop, leave the host, fail and break off, and checks that nothing of them is stored
// and that the owner reads the reason. It also checks that a service that is killed in the middle of a page shows the earlier
// entities. (It polls again when the lease of the poll has ended.)
func TestBadPagesLeaveThePicture(t *testing.T) {
	t.Parallel()
	p := startPublisher(t)
	s := systemtest.StartService(t, systemtest.Unlimited+p.egress)
	owner := s.SignIn("owner@example.org")
	feed := "/v2/feeds/" + follow(t, owner, map[string]any{"format": "ocpi", "pull_url": p.base + "/1"})
	sees(s, "at first", "L1", "L2", "L3")
	change := func(wrong string) { // the feed is polled immediately, because the host stays the same
		t.Helper()
		if resp, body := owner.Do(http.MethodPatch, feed, map[string]any{"pull_url": p.base + "/1?wrong=" + strings.ReplaceAll(wrong, " ", "+")}); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", wrong, resp.StatusCode, body)
		}
	}
	for _, tt := range []struct{ wrong, outcome, why string }{
		{"loops", "parse_error", "pages"},
		{"leaves", "parse_error", "pages"},
		{"fails", "http_status", "500"},
		{"breaks off", "parse_error", "json: byte 41"},
	} {
		change(tt.wrong)
		var said string
		systemtest.Eventually(t, tt.wrong, func() bool {
			_, body := owner.Do(http.MethodGet, feed, nil)
			var got struct {
				Feed struct {
					Outcome string `json:"last_fetch_outcome"`
					Error   string `json:"last_fetch_error"`
				}
			}
			systemtest.Must(t, json.Unmarshal(body, &got))
			said = string(body)
			return got.Feed.Outcome == tt.outcome && strings.Contains(got.Feed.Error, tt.why)
		})
		if strings.Contains(said, "half") {
			t.Errorf("%s: the document's text is repeated: %s", tt.wrong, said)
		}
		sees(s, "after a document that "+tt.wrong, "L1", "L2", "L3")
	}

	change("hangs")
	<-p.hangs
	s.Kill()
	s.Start(nil)
	sees(s, "killed in the middle of a page", "L1", "L2", "L3")
}
