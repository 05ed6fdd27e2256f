package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
)

// TestPushFindsNoMemory checks that a push that is refused because others hold the memory for bodies may come again in seconds, as other
// requests that find no memory, and that strangers cannot fill the log with such refusals (D7.1).
func TestPushFindsNoMemory(t *testing.T) {
	const room = 1 << 20
	part := push.Memory(budget.New(room), room)
	d := newTestServiceWith(t, serviceOptions{manage: 100, requests: 60, entities: 10_000, memory: part})
	r := d.signedInAs("owner@example.com", mapdata.Driver).registerPush("Cameras")
	others, err := part.Take(t.Context(), someone(1), room)
	if err != nil {
		t.Fatal(err)
	}
	refused := d.push(*r.Token, "[]").want(t, http.StatusServiceUnavailable)
	if got := refused.Header.Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q: %s", got, refused.body)
	}
	if said := d.log.String(); strings.Contains(said, "unavailable") || strings.Contains(said, "503") {
		t.Errorf("the refusal is in the log: %s", said)
	}
	others.Release()
	d.push(*r.Token, "[]").want(t, http.StatusOK)
}
