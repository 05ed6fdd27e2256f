package cli

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestJSONPrintsTimesAsTheAPI compares the times of a feed and an account in answers of the API with those that commands print.
func TestJSONPrintsTimesAsTheAPI(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, "")
	driver := s.SignIn("driver@example.org")
	feed := driver.Register("Times")
	_, body := driver.Do(http.MethodGet, "/v2/feeds/"+feed.ID, nil)
	var api struct{ Feed map[string]any }
	systemtest.Must(t, json.Unmarshal(body, &api))
	var printed map[string]any
	systemtest.Must(t, json.Unmarshal([]byte(s.CLI("feed", "show", feed.ID, "--json")), &printed))
	for _, field := range []string{"created_at", "updated_at", "last_push_at", "next_fetch_at"} {
		if printed[field] != api.Feed[field] {
			t.Errorf("%s: %v, the API says %v", field, printed[field], api.Feed[field])
		}
	}
	layout := regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$`)
	for _, args := range [][]string{{"account", "list", "--json"}, {"account", "show", "--email", "driver@example.org", "--json"}, {"account", "sessions", "--email", "driver@example.org", "--json"}} {
		out := s.CLI(args...)
		times := regexp.MustCompile(`"created_at": ("[^"]*")`).FindAllStringSubmatch(out, -1)
		if len(times) == 0 {
			t.Errorf("%s: no time in %s", strings.Join(args, " "), out)
		}
		for _, found := range times {
			if !layout.MatchString(found[1]) {
				t.Errorf("%s prints %s", strings.Join(args, " "), found[1])
			}
		}
	}
}
