package navigation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/http/httpapi/public"
)

// TestRoutesArePaidByWork checks that a long trace counts by its places (T1), a tour by its legs (T6, T10), and a session as its
// route does, and that a request that costs more than the rate of a minute is answered for callers who made no other request
// (D15.23). The error names the limit.
func TestRoutesArePaidByWork(t *testing.T) {
	s := httpapitest.NewNavigationService(t, func(d *public.Deps) {
		d.Limits.GuestRoutes = 60
		d.Drives = session.New(session.Options{Routes: d.Navigation, Now: time.Now, PerAddress: 2})
	})
	at := httpapitest.DrawnTown(t).Place(t, "1")
	places := func(count int) string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf("[%.6f,%.6f]", at.Lng+float64(i%40)*1e-5, at.Lat))
		}
		return `{"coordinates":[` + strings.Join(list, ",") + "]"
	}
	post := func(path, body string, status int, left string) {
		t.Helper()
		resp, text := s.Post("/v2/navigation/"+path, body)
		if resp.StatusCode != status || !strings.HasPrefix(resp.Header.Get("RateLimit"), `"default";r=`+left+";") {
			t.Errorf("%s: %s, %s left, want %d and %s: %.200s", path, resp.Status, resp.Header.Get("RateLimit"), status, left, text)
		}
		if status == http.StatusTooManyRequests && !strings.Contains(string(text), "routes of this address") {
			t.Errorf("the error does not name its limit: %s", text)
		}
	}
	post("match/v1/driving", places(500)+"}", http.StatusOK, "34")
	post("match/v1/driving", places(500)+"}", http.StatusOK, "8")
	post("match/v1/driving", places(500)+"}", http.StatusTooManyRequests, "8")
	s.Advance(time.Minute)
	post("route/v1/driving", places(100)+"}", http.StatusOK, "35")
	post("sessions", places(50)+"}", http.StatusCreated, "22")
	s.Advance(time.Minute)
	const all = `,"steps":true,"annotations":true,"geometries":"geojson","overview":"full","banner_instructions":true,"voice_instructions":true}`
	post("table/v1/driving", places(100)+"}", http.StatusOK, "0") // a hundred routes of sixty
	s.Advance(time.Minute)
	post("route/v1/driving", places(100)+all, http.StatusOK, "20")

	s.Advance(time.Minute)
	post("sessions", places(2)+"}", http.StatusCreated, "59")
	resp, text := s.Post("/v2/navigation/sessions", places(2)+"}")
	if resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(text), "sessions that guests of one address may have (2)") {
		t.Errorf("a third session: %s %s", resp.Status, text)
	}
	httpapitest.CheckAgainstSchema(t, http.MethodPost, httpapitest.Drives, resp.StatusCode, text)
}
