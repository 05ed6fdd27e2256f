package demo

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// shape returns the names of the members of a JSON value and the types of their values; a list has the shape of its first element.
func shape(value any) any {
	switch v := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range v {
			members[name] = shape(member)
		}
		return members
	case []any:
		if len(v) == 0 {
			return []any{}
		}
		return []any{shape(v[0])}
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "truth"
	default:
		return "number"
	}
}

// TestAnswerOfReadme sends the request of README.md to the demo, and checks that the answer in README.md has the same members.
func TestAnswerOfReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts the demo")
	}
	t.Parallel()
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile("(?ms)^\\$ curl 'http://127\\.0\\.0\\.1:8080(/v2/[^']+)'\n(.*?)^```$").FindStringSubmatch(string(readme))
	if sample == nil {
		t.Fatal("README.md has no sample")
	}
	address := systemtest.FreeAddress(t)
	d := newShowing(t, address)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = d.cmd.Wait()                       // it only reports the signal
	})
	read := func(text []byte) (answer struct {
		Entities, Sources []map[string]any
		Networks          []string `json:"networks_applied"`
		At                string   `json:"fetched_at_utc"`
	},
	) {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Errorf("%v: %s", err, text)
		}
		return answer
	}
	want := read([]byte(sample[2]))
	systemtest.Eventually(t, "the demo answers as README.md has it", func() bool {
		resp, err := http.Get("http://" + address + sample[1])
		if err != nil {
			return false
		}
		text, err := io.ReadAll(resp.Body)
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			return false
		}
		got := read(text)
		if err != nil || len(got.Entities) == 0 || len(got.Sources) == 0 || got.Sources[0]["status"] != "online" {
			return false
		}
		one, sampled := got.Entities[0], want.Entities[0]
		if len(want.Entities) != 1 || got.At == "" || !slices.Equal(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(sampled))) ||
			one["layer_slug"] != sampled["layer_slug"] || one["kind_id"] != sampled["kind_id"] || !slices.Equal(got.Networks, want.Networks) {
			t.Errorf("README.md has another answer: %s", text)
		}
		for _, name := range []string{"id", "external_id"} {
			if prefixOf(one[name]) != prefixOf(sampled[name]) {
				t.Errorf("%s: %v, and %v in README.md", name, one[name], sampled[name])
			}
		}
		if a, b := asText(t, shape(got.Sources[0])), asText(t, shape(want.Sources[0])); a != b {
			t.Errorf("a source is %s, and %s in README.md", a, b)
		}
		return true
	})
}

// prefixOf returns the first part of an id.
func prefixOf(id any) string {
	text, _ := id.(string)
	prefix, _, _ := strings.Cut(text, ":")
	return prefix
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
