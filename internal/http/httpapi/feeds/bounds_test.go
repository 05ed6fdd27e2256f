package feeds_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestPollsOfScreensAreBounded holds that an address may ask 240 times in a minute whether its screens are approved.
func TestPollsOfScreensAreBounded(t *testing.T) {
	d := httpapitest.NewService(t)
	b := d.Browser()
	for i := range 240 {
		b.Send(http.MethodPost, "/v2/auth/pair/token", fmt.Sprintf(`{"device_code":"x%d"}`, i)).Want(t, http.StatusGone)
	}
	b.Send(http.MethodPost, "/v2/auth/pair/token", `{"device_code":"y"}`).Want(t, http.StatusTooManyRequests)
}

// TestFeedEntitiesAreBounded holds that an answer has 5 000 entities of a feed, however many are asked for.
func TestFeedEntitiesAreBounded(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	f := owner.Register(`{"name":"Roads","direction":"push","visibility":"private"}`)
	rows := func(name string, n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"external_id":"%s%d","kind":"camera.speed","lat":52,"lng":4,"properties":{}}`, name, i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	d.Push(*f.Token, rows("a", 5000)).Want(t, http.StatusOK)
	d.Push(*f.Token, rows("b", 10)).Want(t, http.StatusOK)
	var got collection
	owner.Send(http.MethodGet, f.Path()+"/entities?limit=100000", "").Want(t, http.StatusOK).Decode(t, &got)
	if len(got.Features) != 5000 || got.Truncated == nil || !*got.Truncated {
		t.Errorf("%d entities, truncated %v", len(got.Features), got.Truncated)
	}
}
