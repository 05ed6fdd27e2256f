package cli

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"testing"
	"time"
)

// TestVotersReadTheirOwnVotes checks D9.8: the next read of a voter contains the vote, at the node that received it and at every
// other node.
func TestVotersReadTheirOwnVotes(t *testing.T) {
	one := startProvider(t, "one", incident("pin", "alert.police", 0, ""))
	nodes, _ := startNodes(t, 2, manyVotes+one.asUpstream("incidents"), servers.Postgres(t).Database(t))
	driver := nodes[0].signIn("driver@example.org")
	jar, err := cookiejar.New(nil)
	mustBe(t, err)
	driver.http.Jar = jar
	for _, node := range nodes {
		driver.s = node
		eventually(t, "the pin", func() bool { return driver.look(5000).ids() == "pin" })
	}
	id := driver.look(5000).pins["pin"].ID
	late := [2]int{}
	for round := range 40 {
		what, want := "confirm", 1
		if round%2 == 1 {
			what, want = "dispute", 0
		}
		driver.s = nodes[0]
		if resp, body := driver.do(http.MethodPost, "/v2/entities/"+id+"/"+what, nil); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", what, resp.StatusCode, body)
		}
		reader := (round / 2) % 2
		driver.s = nodes[reader]
		watch := stopwatch(nodes)
		if pin := driver.look(5000).pins["pin"]; pin.Confirms != want {
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
	home, err := url.Parse(driver.s.base + "/v2/")
	mustBe(t, err)
	jar.SetCookies(home, []*http.Cookie{{Name: "wayside_vote", Value: strconv.FormatInt(1<<60, 10), Path: "/v2/"}})
	began, watch := time.Now(), stopwatch(nodes)
	driver.look(5000)
	if took := time.Since(began); took < time.Second || watch.Took() > 3*time.Second {
		t.Errorf("a made-up revision delays a read by %v, want a second", took)
	}
}
