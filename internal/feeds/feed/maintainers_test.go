package feed_test

import (
	"errors"
	"fmt"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestMaintainersAreBounded checks that a feed has five maintainers, and that nobody else is invited then.
func TestMaintainersAreBounded(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	f, _, err := ts.Register(t.Context(), by, pushOf("Roads"))
	if err != nil {
		t.Fatal(err)
	}
	joined := 0
	for i := range 9 {
		address := fmt.Sprintf("maintainer%d@example.com", i)
		_, other := ts.newAccount(address, mapdata.Driver)
		invited, err := ts.Invite(t.Context(), by, f.ID, mapdata.InvitedToMaintain, address, mapdata.English)
		var refused *mapdata.Described
		if errors.As(err, &refused) && refused.Reason == "too_many_maintainers" {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ts.Accept(t.Context(), other, invited.ID); err != nil {
			t.Fatal(err)
		}
		joined++
	}
	if joined != 5 {
		t.Errorf("%d maintainers joined, want 5", joined)
	}
}
