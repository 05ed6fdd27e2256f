package systemtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Where the tests' incidents are. Both are negative, so that no duration in a log looks like one of them.
const (
	SceneLat = -33.8688
	SceneLng = -151.2093
)

// ManyVotes is unlimited with a high limit of votes, and with votes of new accounts that hide pins. It must come before any table.
const ManyVotes = Unlimited + "votes_per_minute = 1000000\n[votes]\ntrust_after = \"0s\"\n"

// Incident returns a v1 row the given metres north of the scene.
func Incident(id, kind string, north int, properties string) string {
	return fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":%.6f,"lng":%.6f,"properties":{%s}}`, id, kind, SceneLat+float64(north)/111_195, SceneLng, properties)
}

// Seen is the content of an answer: pins by external id, and the status of the built-in source.
type Seen struct {
	Resp   *http.Response
	Body   string
	Pins   map[string]LiveEntity
	Status string
	Ok     int // number of recent calls with an answer
}

// LiveEntity is an entity as an answer or a stream shows it.
type LiveEntity struct {
	ID         string
	ExternalID string `json:"external_id"`
	Kind       string `json:"kind_id"`
	Status     string
	Confirms   int `json:"confirm_count"`
	Disputes   int `json:"dispute_count"`
	Line       *struct {
		Coordinates [][2]float64
	} `json:"geom_line"`
	Properties map[string]any
}

// Votes returns the status and the votes of a pin.
func (e *LiveEntity) Votes() string { return fmt.Sprint(e.Status, " ", e.Confirms, " ", e.Disputes) }

// IDs returns the external ids.
func (v *Seen) IDs() string { return strings.Join(slices.Sorted(maps.Keys(v.Pins)), " ") }

// Look reads the scene. Two radii that differ by 100 m have different window keys, and the upstreams are called for each.
func (c *Client) Look(radius int) *Seen {
	c.Service.T.Helper()
	resp, body := c.Do(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=%d&limit=1000", SceneLat, SceneLng, radius), nil)
	return AsSeen(c.Service.T, resp, body)
}

// AsSeen parses the answer of a nearby read; the test fails if it is not one.
func AsSeen(t *testing.T, resp *http.Response, body []byte) *Seen {
	t.Helper()
	var got struct {
		Entities []LiveEntity
		Sources  []struct {
			ID     string
			Status string
			Recent struct{ OK int }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("read: %d %s", resp.StatusCode, body)
	}
	v := &Seen{Resp: resp, Body: string(body), Pins: make(map[string]LiveEntity)}
	for _, e := range got.Entities {
		v.Pins[e.ExternalID] = e
	}
	for _, s := range got.Sources {
		if s.ID == "incidents" {
			v.Status, v.Ok = s.Status, s.Recent.OK
		}
	}
	return v
}
