package cli

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"wayside/internal/proof/testenv"
)

// pairAt signs a screen in to the account of a phone. Each uses another node.
func pairAt(t *testing.T, phone *client, node *serviceProcess) *client {
	t.Helper()
	screen := &client{s: node, http: http.Client{Timeout: time.Minute}}
	resp, body := screen.do(http.MethodPost, "/v2/auth/pair", map[string]string{})
	var begun struct {
		UserCode   string `json:"user_code"`
		DeviceCode string `json:"device_code"`
	}
	if err := json.Unmarshal(body, &begun); err != nil || begun.DeviceCode == "" {
		t.Fatalf("pair: %d %s", resp.StatusCode, body)
	}
	if resp, body := phone.do(http.MethodPost, "/v2/auth/pair/"+begun.UserCode+"/approve", nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("approve: %d %s", resp.StatusCode, body)
	}
	resp, body = screen.do(http.MethodPost, "/v2/auth/pair/token", map[string]string{"device_code": begun.DeviceCode})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		t.Fatalf("token: %d %s", resp.StatusCode, body)
	}
	screen.cookie = resp.Cookies()[0]
	return screen
}

// at returns the same caller at another node.
func (c *client) at(node *serviceProcess) *client {
	return &client{s: node, http: http.Client{Timeout: time.Minute}, cookie: c.cookie}
}

func (c *client) sendDestination(t *testing.T, name string) {
	t.Helper()
	if resp, body := c.do(http.MethodPut, "/v2/account/destination", map[string]any{"lat": 52.123456, "lng": 5.654321, "name": name}); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("send: %d %s", resp.StatusCode, body)
	}
}

// takeDestination takes the destination that a phone sent, and returns its name; empty: there was none.
func (c *client) takeDestination(t *testing.T) string {
	t.Helper()
	resp, body := c.do(http.MethodPost, "/v2/account/destination/take", map[string]string{})
	var taken struct{ Destination struct{ Name string } }
	if err := json.Unmarshal(body, &taken); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("take: %d %s", resp.StatusCode, body)
	}
	return taken.Destination.Name
}

// TestDestinationsReachCarsAtOtherNodes checks that a destination that a phone sends to one node reaches a car that asks another
// one, once, that the cache between them holds none of it in plain text, and that nodes work without the cache.
func TestDestinationsReachCarsAtOtherNodes(t *testing.T) {
	t.Parallel()
	nodes, cache := startNodes(t, 2, "", servers.Postgres(t).Database(t))
	phone := nodes[0].signIn("driver@example.org")
	car := pairAt(t, phone, nodes[1])
	other := pairAt(t, nodes[0].signIn("other@example.org"), nodes[1])

	phone.sendDestination(t, "Town hall")
	phone.sendDestination(t, "Harbour road")
	wantUnreadable(t, cache, "Harbour", "52.123456", "driver@example.org")
	if name := other.takeDestination(t); name != "" {
		t.Errorf("another account's car takes %q", name)
	}
	if name := car.takeDestination(t); name != "Harbour road" {
		t.Errorf("the car takes %q at the other node", name)
	}
	if again, there := car.takeDestination(t), car.at(nodes[0]).takeDestination(t); again != "" || there != "" {
		t.Errorf("it is taken again: %q, %q", again, there)
	}

	// Of the cars that ask all nodes at the same time, one gets the destination.
	for range 3 {
		phone.sendDestination(t, "Station")
		taken := make([]string, 4)
		var cars sync.WaitGroup
		for i := range taken {
			cars.Go(func() { taken[i] = car.at(nodes[i%2]).takeDestination(t) })
		}
		cars.Wait()
		if got := strings.Join(taken, ""); got != "Station" {
			t.Fatalf("the cars take %q", taken)
		}
	}

	mustBe(t, cache.Stop())
	phone.sendDestination(t, "Market")
	if name := car.at(nodes[0]).takeDestination(t); name != "Market" {
		t.Errorf("without the cache, the car takes %q at the same node", name)
	}
	if name := car.takeDestination(t); name != "" {
		t.Errorf("without the cache, the car takes %q at the other node", name)
	}
	for i, n := range nodes {
		for _, private := range []string{"Harbour", "Market", "52.123456"} {
			if strings.Contains(n.log.String(), private) {
				t.Errorf("the log of node %d contains %q", i, private)
			}
		}
	}
}

// wantUnreadable fails if a key or a value of the cache contains one of the texts, or if it holds no destination.
func wantUnreadable(t *testing.T, cache *testenv.CacheServer, texts ...string) {
	t.Helper()
	u, err := url.Parse(cache.URL())
	mustBe(t, err)
	password, _ := u.User.Password()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{u.Host}, Password: password, DisableCache: true})
	mustBe(t, err)
	defer c.Close()
	keys, err := c.Do(t.Context(), c.B().Keys().Pattern("*destination/*").Build()).AsStrSlice()
	mustBe(t, err)
	if len(keys) != 1 {
		t.Errorf("the cache holds %d destinations of one account", len(keys))
	}
	for _, key := range keys {
		value, err := c.Do(t.Context(), c.B().Get().Key(key).Build()).ToString()
		mustBe(t, err)
		ttl, err := c.Do(t.Context(), c.B().Pttl().Key(key).Build()).AsInt64()
		if most := 10 * time.Minute; err != nil || ttl <= 0 || ttl > most.Milliseconds() {
			t.Errorf("%s lasts %d ms, error %v", key, ttl, err)
		}
		for _, text := range texts {
			if strings.Contains(key+value, text) {
				t.Errorf("the cache contains %q", text)
			}
		}
	}
}
