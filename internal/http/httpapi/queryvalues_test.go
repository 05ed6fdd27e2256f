package httpapi

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAppendQuery checks that a query is parsed, and rejected, as net/url does.
func TestAppendQuery(t *testing.T) {
	compare := func(t rapid.TB, query string) {
		want, wantErr := url.ParseQuery(query)
		values, err := AppendQuery(nil, query)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%.100q: error %v, want %v", query, err, wantErr)
		}
		got := url.Values{}
		for _, v := range values {
			got.Add(v.Name, v.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.100q (-want +got):\n%s", query, diff)
		}
		for name := range want {
			if first, count := values.get(name); first != want.Get(name) || count != len(want[name]) {
				t.Errorf("%.100q: get(%q) is %q and %d", query, name, first, count)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"lat", "sources[]", "=", "=", "&", "&", "%2C", "%", "%zz", "+", ";", "a", "ä", "52.3"})
		compare(t, strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "query"), ""))
	})
	for _, n := range []int{9_999, 10_000} {
		compare(t, "a"+strings.Repeat("&a", n))
	}
}
