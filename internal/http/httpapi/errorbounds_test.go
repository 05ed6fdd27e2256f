package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// boundedProblem is the part of a problem that grows with a request.
type boundedProblem struct {
	Errors []struct {
		Parameter, Field, Code, Message string
	}
	Truncated bool     `json:"errors_truncated"`
	ValidIDs  []string `json:"valid_ids"`
}

// TestAnswersToWrongQuestionsAreBounded sends as many errors as a URL can hold, and checks that the answers are bounded. A request
// of 60 KB was once answered by 3.8 MB (F7, D4.4).
func TestAnswersToWrongQuestionsAreBounded(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	const place = "lat=1&lng=1&radius=5"
	equal := strings.TrimSuffix(strings.Repeat("a,", 30_000), ",")
	var different, few strings.Builder
	for i := range 8_000 {
		fmt.Fprintf(&different, "wrong%d,", i)
	}
	for i := range 30 {
		fmt.Fprintf(&few, "wrong%d,", i)
	}
	for _, path := range []string{"/v2/entities/nearby?", "/v2/stream?", "/v2/alerts?speed=10&heading=0&"} {
		for _, tt := range []struct {
			name, query string
			errors      int
			code        string
			truncated   bool
		}{
			{"one wrong kind many times", "kinds=" + equal, 1, "too_many", false},
			{"many wrong kinds", "kinds=" + different.String(), 1, "too_many", false},
			{"many wrong sources", "sources=" + different.String(), 1, "too_many", false},
			{"many wrong sources, one by one", strings.Repeat("sources[]=a&", 5_000), 1, "too_many", false},
			{"many layers", "layers=" + different.String(), 1, "too_many", false},
			{"many networks", "networks=" + different.String(), 1, "too_many", false},
			{"30 wrong kinds", "kinds=" + few.String(), 20, "unknown_kind", true},
			{"30 wrong sources", "sources=" + few.String(), 20, "unknown_source", true},
			{"one wrong kind thrice", "kinds=a,a,a", 1, "unknown_kind", false},
			{"one wrong source thrice", "sources=a,a&sources[]=a", 1, "unknown_source", false},
		} {
			t.Run(path+tt.name, func(t *testing.T) {
				resp, body := s.Get(path + place + "&" + tt.query)
				var p boundedProblem
				if err := json.Unmarshal(body, &p); err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusBadRequest || len(p.Errors) != tt.errors || p.Errors[0].Code != tt.code || p.Truncated != tt.truncated {
					t.Errorf("%d with %d errors (truncated: %v), want %d of %s: %.300s", resp.StatusCode, len(p.Errors), p.Truncated, tt.errors, tt.code, body)
				}
				if len(body) > 8<<10 {
					t.Errorf("the answer has %d bytes", len(body))
				}
			})
		}
	}
}

// TestListsOfHundred checks that as many values as a list may have are accepted.
func TestListsOfHundred(t *testing.T) {
	s := httpapitest.NewReadService(t, nil)
	for _, list := range []string{"kinds=", "layers=", "networks="} {
		values := strings.Repeat("camera.speed,", 100)
		if resp, body := s.Get("/v2/entities/nearby?lat=1&lng=1&radius=5&" + list + values); resp.StatusCode != http.StatusOK {
			t.Errorf("100 values of %s: %d %s", list, resp.StatusCode, body)
		}
	}
}

// TestUnknownFieldsAreBounded sends a body of unknown members, and checks that the answer is bounded.
func TestUnknownFieldsAreBounded(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	var members strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&members, `,"x%d":1`, i)
	}
	members.WriteString(`,"` + strings.Repeat("y", 5_000) + `":1`)
	r := owner.Send(http.MethodPost, "/v2/feeds", `{"name": "a", "direction": "push"`+members.String()+`}`)
	var p boundedProblem
	r.Want(t, http.StatusUnprocessableEntity).Decode(t, &p)
	if len(p.Errors) != 20 || !p.Truncated || len(r.Body) > 8<<10 {
		t.Errorf("%d errors (truncated: %v) in %d bytes", len(p.Errors), p.Truncated, len(r.Body))
	}
}
