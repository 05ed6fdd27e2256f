package pull

import (
	"fmt"
	"net/http"
	"testing"

	"wayside/internal/ground/mapdata"
)

// location returns an OCPI page with one charging location.
func location(id string) string {
	return fmt.Sprintf(`{"status_code":1000,"data":[{"id":%q,"country_code":"NL","party_id":"ABC","publish":true,"name":"X","coordinates":{"latitude":"52.1","longitude":"4.9"},
		"evses":[{"uid":"1","status":"AVAILABLE","connectors":[{"id":"1","standard":"IEC_62196_T2","power_type":"AC_3_PHASE","max_electric_power":11000}]}]}]}`, id)
}

// TestPages checks that pages are followed to their end with the feed's header, and that a chain that loops, leaves the
// origin, fails or never ends fails the poll and changes no entity (D17.13).
func TestPages(t *testing.T) {
	w := newTestService(t)
	mode := "good"
	var asked requests
	url := w.provider("ocpi", func(rw http.ResponseWriter, r *http.Request) {
		asked.note(r.Header)
		page := r.URL.Query().Get("page")
		next := map[string]string{"": "2", "2": "3"}[page]
		target := "https://" + r.Host + r.URL.Path + "?page=" + next
		if page == "2" && mode != "good" {
			switch target = "https://" + r.Host + r.URL.Path + "?page=2"; mode {
			case "leaves":
				target = "https://elsewhere.example.org/"
			case "endless":
				target = "/feed.json?page=2&n=" + fmt.Sprint(len(asked.all))
			case "fails":
				rw.WriteHeader(http.StatusInternalServerError)
				return
			}
			next = "x"
		}
		if next != "" {
			rw.Header().Set("Link", "<"+target+`>; rel="next"`)
		}
		fmt.Fprint(rw, location("L"+page))
	})
	id := w.bridgedFeed(url, mapdata.Bridge{Format: "ocpi", ChargerNetwork: mapdata.ChargerNetworkNone})
	p := w.poller(nil)
	if got := w.due(p, id); got != mapdata.OutcomeOK || len(w.entitiesOf(id)) != 3 || len(asked.all) != 3 {
		t.Fatalf("%s: %d entities of %d requests: %s", got, len(w.entitiesOf(id)), len(asked.all), w.feed(id).Polling.LastError)
	}
	for _, test := range []struct {
		mode   string
		want   mapdata.Outcome
		reason mapdata.Reason
	}{
		{"loops", mapdata.OutcomeParseError, mapdata.ReasonPages},
		{"leaves", mapdata.OutcomeParseError, mapdata.ReasonPages},
		{"endless", mapdata.OutcomeParseError, mapdata.ReasonPages},
		{"fails", mapdata.OutcomeHTTPStatus, ""},
	} {
		mode = test.mode
		if test.mode == "endless" && testing.Short() {
			continue
		}
		got := w.due(p, id)
		attempts, err := w.db.Timeline(t.Context(), id, w.feed(id).CreatedAt.AddDate(-1, 0, 0), 1)
		if err != nil || got != test.want || attempts[0].Reason != test.reason || len(w.entitiesOf(id)) != 3 {
			t.Errorf("%s: %s %+v, %v", test.mode, got, attempts, err)
		}
	}
}
