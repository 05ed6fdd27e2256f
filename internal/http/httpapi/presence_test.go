package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/http/httpapi/httpapitest"
)

// TestVotesFromAfarDoNotHide checks that a dispute hides a report only if the account sent a position within 5 km in the last ten
// minutes, by each way of sending one, and that it stands otherwise.
func TestVotesFromAfarDoNotHide(t *testing.T) {
	t.Parallel()
	const away = 52.0 + 5_010.0/111_195
	for name, tt := range map[string]struct {
		sends  func(b *httpapitest.Browser)
		waits  time.Duration
		hidden bool
	}{
		"nothing":         {func(*httpapitest.Browser) {}, 0, false},
		"a read":          {func(b *httpapitest.Browser) { b.Read(httpapitest.NearbyPath) }, 0, true},
		"a read long ago": {func(b *httpapitest.Browser) { b.Read(httpapitest.NearbyPath) }, 10*time.Minute + time.Second, false},
		"a read elsewhere": {func(b *httpapitest.Browser) {
			b.Read(fmt.Sprintf("/v2/entities/nearby?lat=%v&lng=5&radius=50000", away))
		}, 0, false},
		"alerts": {func(b *httpapitest.Browser) {
			b.Send(http.MethodGet, "/v2/alerts?lat=52.02&lng=5&speed=20&heading=0", "").Want(t, http.StatusOK)
		}, 0, true},
		"a report":          {func(b *httpapitest.Browser) { b.Reports(http.StatusCreated, "alert.hazard.animal", 1_000) }, 0, true},
		"a read of a guest": {func(b *httpapitest.Browser) { b.AuthService.Browser().Read(httpapitest.NearbyPath) }, 0, false},
		"a jump that no car makes": {func(b *httpapitest.Browser) {
			b.Read("/v2/entities/nearby?lat=40&lng=5&radius=2000")
			b.Read(httpapitest.NearbyPath)
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReportTest(t)
			id := r.ann.Reports(http.StatusCreated, "alert.police", 0).ID()
			tt.sends(r.bob)
			r.Advance(tt.waits)
			r.bob.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").Want(t, http.StatusOK)
			r.WantHidden("a dispute after "+name, id, tt.hidden)
			var own struct {
				Explain struct{ Votes struct{ Yours string } }
			}
			if !tt.hidden {
				r.bob.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusOK).Decode(t, &own)
				if own.Explain.Votes.Yours != "dispute" {
					t.Errorf("the voter reads their vote as %q", own.Explain.Votes.Yours)
				}
				r.bob.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", `{"lat":52.03,"lng":5}`).Want(t, http.StatusOK)
				r.WantHidden("a dispute that says where, after "+name, id, name != "a jump that no car makes")
			}
		})
	}
}

// TestPlaceOfVote checks the body of a vote, which may be left out.
func TestPlaceOfVote(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	id := r.ann.Reports(http.StatusCreated, "alert.police", 0).ID()
	for _, tt := range []struct {
		body   string
		status int
	}{
		{``, http.StatusOK},
		{`{"lat":-90,"lng":180}`, http.StatusOK},
		{`{}`, http.StatusUnprocessableEntity},
		{`{"lat":52}`, http.StatusUnprocessableEntity},
		{`{"lat":90.1,"lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":-180.1}`, http.StatusUnprocessableEntity},
		{`{"lat":"52","lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":5,"speed":9}`, http.StatusUnprocessableEntity},
		{`[52,5]`, http.StatusBadRequest},
		{`{"lat":1e400,"lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":5}` + strings.Repeat(" ", 1000), http.StatusOK},
		{`{"lat":52,"lng":5}` + strings.Repeat(" ", 1024), http.StatusRequestEntityTooLarge},
	} {
		if got := r.bob.Send(http.MethodPost, "/v2/entities/"+id+"/confirm", tt.body); got.StatusCode != tt.status {
			t.Errorf("%s: %s, want %d", tt.body, got.Status, tt.status)
		}
	}
}
