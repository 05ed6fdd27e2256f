package apps

import "testing"

func TestSlugOf(t *testing.T) {
	for name, want := range map[string]string{"Trip": "trip", "New": "new-app", "Bench!": "bench-app", "Own": "own-app", "review": "review-app", "…": "app", "New York": "new-york"} {
		if got := slugOf(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
