package feeds_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestPushFindsNoMemory checks that a push that is refused because others hold the memory for bodies may come again in seconds, as other
// requests that find no memory, and that strangers cannot fill the log with such refusals (D7.1).
func TestPushFindsNoMemory(t *testing.T) {
	const room = 1 << 20
	part := push.Memory(budget.New(room), room)
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Entities: 10_000, Memory: part})
	r := d.SignedInAs("owner@example.com", mapdata.Driver).RegisterPush("Cameras")
	others, err := part.Take(t.Context(), ratelimit.ClientKey(ratelimit.HeldBytes, netip.AddrFrom4([4]byte{192, 0, 2, 1})), room)
	if err != nil {
		t.Fatal(err)
	}
	refused := d.Push(*r.Token, "[]").Want(t, http.StatusServiceUnavailable)
	if got := refused.Header.Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q: %s", got, refused.Body)
	}
	if said := d.Log.String(); strings.Contains(said, "unavailable") || strings.Contains(said, "503") {
		t.Errorf("the refusal is in the log: %s", said)
	}
	others.Release()
	d.Push(*r.Token, "[]").Want(t, http.StatusOK)
}
