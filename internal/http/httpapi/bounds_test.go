package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestPollsOfScreensAreBounded holds that an address may ask 240 times in a minute whether its screens are approved.
func TestPollsOfScreensAreBounded(t *testing.T) {
	d := newTestService(t)
	b := d.browser()
	for i := range 240 {
		b.send(http.MethodPost, "/v2/auth/pair/token", fmt.Sprintf(`{"device_code":"x%d"}`, i)).want(t, http.StatusGone)
	}
	b.send(http.MethodPost, "/v2/auth/pair/token", `{"device_code":"y"}`).want(t, http.StatusTooManyRequests)
}

// TestFeedEntitiesAreBounded holds that an answer has 5 000 entities of a feed, however many are asked for.
func TestFeedEntitiesAreBounded(t *testing.T) {
	d := newTestService(t)
	owner := d.signedInAs("owner@example.com", mapdata.Driver)
	f := owner.register(`{"name":"Roads","direction":"push","visibility":"private"}`)
	rows := func(name string, n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"external_id":"%s%d","kind":"camera.speed","lat":52,"lng":4,"properties":{}}`, name, i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	d.push(*f.Token, rows("a", 5000)).want(t, http.StatusOK)
	d.push(*f.Token, rows("b", 10)).want(t, http.StatusOK)
	var got collection
	owner.send(http.MethodGet, f.path()+"/entities?limit=100000", "").want(t, http.StatusOK).decode(t, &got)
	if len(got.Features) != 5000 || got.Truncated == nil || !*got.Truncated {
		t.Errorf("%d entities, truncated %v", len(got.Features), got.Truncated)
	}
}
