package incidents

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestVotersReadTheirOwnVotes checks D9.8: the next read of a voter contains the vote, at the node that received it and at every
// other node.
func TestVotersReadTheirOwnVotes(t *testing.T) {
	one := systemtest.StartProvider(t, "one", systemtest.Incident("pin", "alert.police", 0, ""))
	nodes, _ := systemtest.StartNodes(t, 2, systemtest.ManyVotes+one.AsUpstream("incidents"), servers.Postgres(t).Database(t))
	driver := nodes[0].SignIn("driver@example.org")
	jar, err := cookiejar.New(nil)
	systemtest.Must(t, err)
	driver.HTTP.Jar = jar
	for _, node := range nodes {
		driver.Service = node
		systemtest.Eventually(t, "the pin", func() bool { return driver.Look(5000).IDs() == "pin" })
	}
	id := driver.Look(5000).Pins["pin"].ID
	late := [2]int{}
	for round := range 40 {
		what, want := "confirm", 1
		if round%2 == 1 {
			what, want = "dispute", 0
		}
		driver.Service = nodes[0]
		if resp, body := driver.Do(http.MethodPost, "/v2/entities/"+id+"/"+what, nil); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", what, resp.StatusCode, body)
		}
		reader := (round / 2) % 2
		driver.Service = nodes[reader]
		watch := systemtest.Stopwatch(nodes)
		if pin := driver.Look(5000).Pins["pin"]; pin.Confirms != want {
			late[reader]++
		}
		if took := watch.Took(); took > 900*time.Millisecond {
			t.Errorf("the read after a vote took %v", took)
		}
	}
	if late != [2]int{} {
		t.Errorf("of 20 votes each, %d were missing in the next read at the same node and %d at the other", late[0], late[1])
	}
	// A revision that never comes delays a read by a second at most.
	home, err := url.Parse(driver.Service.Base + "/v2/")
	systemtest.Must(t, err)
	jar.SetCookies(home, []*http.Cookie{{Name: "wayside_vote", Value: strconv.FormatInt(1<<60, 10), Path: "/v2/"}})
	began, watch := time.Now(), systemtest.Stopwatch(nodes)
	driver.Look(5000)
	if took := time.Since(began); took < time.Second || watch.Took() > 3*time.Second {
		t.Errorf("a made-up revision delays a read by %v, want a second", took)
	}
}
