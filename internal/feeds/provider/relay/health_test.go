package relay_test

import (
	"net/http"
	"testing"
	"time"

	"wayside/internal/feeds/provider/relay"
	"wayside/internal/ground/mapdata"
)

// hanging returns an upstream that answers no request in time.
func hanging(t *testing.T) *provider {
	t.Helper()
	release := make(chan struct{})
	p := newProvider(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	return p
}

// TestWaitInVainIsInTheAnswer checks that the answer of a read that waited for an upstream in vain contains the
// upstream's state (D8.8). The call and the reader have the same two seconds; here the call's end is recorded after the
// reader's.
func TestWaitInVainIsInTheAnswer(t *testing.T) {
	s := newSource(t, nil, upstream(t, "good", newProvider(t, rows("x")), 1), upstream(t, "hanging", hanging(t), 2))
	answered := make(chan struct{})
	s.Observe = func(name string, _ mapdata.Outcome, _ time.Duration) {
		if name == "hanging" {
			<-answered
		}
	}
	h := s.want("d", "of the other one", "x")
	close(answered)
	if h.Status != mapdata.Degraded || h.Fail != 1 {
		t.Errorf("the answer says %+v", h)
	}
	eventually(t, "the call's end", func() bool { return s.Health().Fail > 0 })
	if h := s.Health(); h.Status != mapdata.Degraded || h.Fail != 1 || h.OK != 1 {
		t.Errorf("afterwards %+v", h)
	}
}

// TestWaitInVainForAnotherNode checks the same for a read that waits for another node's call, because the message about
// its failure may come later than the answer (D8.8).
func TestWaitInVainForAnotherNode(t *testing.T) {
	s := servers.Cache(t)
	u := upstream(t, "hanging", hanging(t), 1)
	first, second := newNode(t, s, nil, u), newNode(t, s, nil, u)
	both := make(chan mapdata.Health, 2)
	for _, n := range []*node{first, second} {
		go func() { _, h := n.near("d"); both <- h }()
	}
	for range 2 {
		if h := <-both; h.Status != mapdata.Offline || h.Fail != 1 {
			t.Errorf("the answer says %+v", h)
		}
	}
}

// TestOfflineIsSaidOfWhatFailed checks that an upstream that was not called, or not in the last five minutes, does not
// count as failed (D8.8).
func TestOfflineIsSaidOfWhatFailed(t *testing.T) {
	bad, far := newProvider(t, status(http.StatusInternalServerError)), upstream(t, "elsewhere", newProvider(t, rows("y")), 2)
	far.Area = &relay.Area{West: 10, South: 10, East: 11, North: 11}
	s := newSource(t, nil, upstream(t, "bad", bad, 1), far)
	if h := s.Health(); h.Status != mapdata.Online {
		t.Errorf("nobody was asked: %+v", h)
	}
	if h := s.want("d", "it fails"); h.Status != mapdata.Degraded || h.Fail != 1 {
		t.Errorf("one failed, the other was not asked: %+v", h)
	}
	s.clock.set(5*time.Minute - time.Millisecond)
	if h := s.Health(); h.Status != mapdata.Degraded {
		t.Errorf("less than five minutes later: %+v", h)
	}
	s.clock.set(5 * time.Minute)
	if h := s.Health(); h.Status != mapdata.Online || h.Fail != 1 {
		t.Errorf("five minutes later: %+v", h)
	}
	alone := newSource(t, nil, upstream(t, "bad", bad, 1))
	if h := alone.want("d", "the only one fails"); h.Status != mapdata.Offline {
		t.Errorf("the only one failed: %+v", h)
	}
}
