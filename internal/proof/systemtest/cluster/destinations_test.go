package cluster

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// pairAt signs a screen in to the account of a phone. Each uses another node.
func pairAt(t *testing.T, phone *systemtest.Client, node *systemtest.Service) *systemtest.Client {
	t.Helper()
	screen := &systemtest.Client{Service: node, HTTP: http.Client{Timeout: time.Minute}}
	resp, body := screen.Do(http.MethodPost, "/v2/auth/pair", map[string]string{})
	var begun struct {
		UserCode   string `json:"user_code"`
		DeviceCode string `json:"device_code"`
	}
	if err := json.Unmarshal(body, &begun); err != nil || begun.DeviceCode == "" {
		t.Fatalf("pair: %d %s", resp.StatusCode, body)
	}
	if resp, body := phone.Do(http.MethodPost, "/v2/auth/pair/"+begun.UserCode+"/approve", nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("approve: %d %s", resp.StatusCode, body)
	}
	resp, body = screen.Do(http.MethodPost, "/v2/auth/pair/token", map[string]string{"device_code": begun.DeviceCode})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		t.Fatalf("token: %d %s", resp.StatusCode, body)
	}
	screen.Cookie = resp.Cookies()[0]
	return screen
}

func sendDestination(t *testing.T, c *systemtest.Client, name string) {
	t.Helper()
	if resp, body := c.Do(http.MethodPut, "/v2/account/destination", map[string]any{"lat": 52.123456, "lng": 5.654321, "name": name}); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("send: %d %s", resp.StatusCode, body)
	}
}

// takeDestination takes the destination that a phone sent, and returns its name; empty: there was none.
func takeDestination(t *testing.T, c *systemtest.Client) string {
	t.Helper()
	resp, body := c.Do(http.MethodPost, "/v2/account/destination/take", map[string]string{})
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
	nodes, cache := systemtest.StartNodes(t, 2, "", servers.Postgres(t).Database(t))
	phone := nodes[0].SignIn("driver@example.org")
	car := pairAt(t, phone, nodes[1])
	other := pairAt(t, nodes[0].SignIn("other@example.org"), nodes[1])

	sendDestination(t, phone, "Town hall")
	sendDestination(t, phone, "Harbour road")
	wantUnreadable(t, cache, "Harbour", "52.123456", "driver@example.org")
	if name := takeDestination(t, other); name != "" {
		t.Errorf("another account's car takes %q", name)
	}
	if name := takeDestination(t, car); name != "Harbour road" {
		t.Errorf("the car takes %q at the other node", name)
	}
	if again, there := takeDestination(t, car), takeDestination(t, car.At(nodes[0])); again != "" || there != "" {
		t.Errorf("it is taken again: %q, %q", again, there)
	}

	// Of the cars that ask all nodes at the same time, one gets the destination.
	for range 3 {
		sendDestination(t, phone, "Station")
		taken := make([]string, 4)
		var cars sync.WaitGroup
		for i := range taken {
			cars.Go(func() { taken[i] = takeDestination(t, car.At(nodes[i%2])) })
		}
		cars.Wait()
		if got := strings.Join(taken, ""); got != "Station" {
			t.Fatalf("the cars take %q", taken)
		}
	}

	systemtest.Must(t, cache.Stop())
	sendDestination(t, phone, "Market")
	if name := takeDestination(t, car.At(nodes[0])); name != "Market" {
		t.Errorf("without the cache, the car takes %q at the same node", name)
	}
	if name := takeDestination(t, car); name != "" {
		t.Errorf("without the cache, the car takes %q at the other node", name)
	}
	for i, n := range nodes {
		for _, private := range []string{"Harbour", "Market", "52.123456"} {
			if strings.Contains(n.Log.String(), private) {
				t.Errorf("the log of node %d contains %q", i, private)
			}
		}
	}
}

// wantUnreadable fails if a key or a value of the cache contains one of the texts, or if it holds no destination.
func wantUnreadable(t *testing.T, cache *testenv.CacheServer, texts ...string) {
	t.Helper()
	u, err := url.Parse(cache.URL())
	systemtest.Must(t, err)
	password, _ := u.User.Password()
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{u.Host}, Password: password, DisableCache: true})
	systemtest.Must(t, err)
	defer c.Close()
	keys, err := c.Do(t.Context(), c.B().Keys().Pattern("*destination/*").Build()).AsStrSlice()
	systemtest.Must(t, err)
	if len(keys) != 1 {
		t.Errorf("the cache holds %d destinations of one account", len(keys))
	}
	for _, key := range keys {
		value, err := c.Do(t.Context(), c.B().Get().Key(key).Build()).ToString()
		systemtest.Must(t, err)
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
