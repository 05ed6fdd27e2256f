package archtest

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestGoroutines(t *testing.T) {
	tests := []struct {
		name, path, text string
		want             bool
	}{
		{"nothing of the kind", "internal/x/a.go", `package x; import "slices"; func f(s []int) { slices.Sort(s) }`, false},
		{"a goroutine", "internal/x/a.go", `package x; func f() { go f() }`, true},
		{"a goroutine of a test", "internal/x/a_test.go", `package x; func f() { go f() }`, true},
		{"a command", "cmd/x/a.go", `package x; func f() { go f() }`, true},
		{"a client of the program", "bench/a.go", `package x; func f() { go f() }`, false},
		{"a channel", "internal/x/a.go", `package x; type t struct { c chan int }`, true},
		{"a channel of others, read", "internal/x/a.go", `package x; import "context"; func f(c context.Context) { <-c.Done() }`, true},
		{"a channel of others, written", "internal/x/a.go", `package x; import "wayside/internal/y"; func f() { y.C <- 1 }`, true},
		{"a select", "internal/x/a.go", `package x; func f() { select {} }`, true},
		{"a lock", "internal/x/a.go", `package x; import "sync"; var m sync.Mutex`, true},
		{"a counter", "internal/x/a.go", `package x; import "sync/atomic"; var n atomic.Int64`, true},
		{"a server", "internal/x/a_test.go", `package x; import _ "net/http/httptest"`, true},
		{"a database", "internal/x/a.go", `package x; import _ "database/sql"`, true},
		{"an address", "internal/x/a.go", `package x; import (_ "net/netip"; _ "net/url"; _ "net/mail")`, false},
		{"tests side by side", "internal/x/a_test.go", `package x; import "testing"; func TestA(t *testing.T) { t.Parallel() }`, true},
		{"a timer", "internal/x/a.go", `package x; import "time"; func f() { time.AfterFunc(1, f) }`, true},
		{"words", "internal/x/a.go", "package x; // go f() and <-c\nconst a = `go f(); import \"sync\"`", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := Goroutines(fstest.MapFS{tt.path: {Data: []byte(tt.text)}})
			if err != nil || (len(found) > 0) != tt.want {
				t.Errorf("%v, %v, want %v", found, err, tt.want)
			}
		})
	}
}

// checkGoroutines holds that packages of the module that run jobs are found, and some others not.
func checkGoroutines(t *testing.T, all []source) {
	t.Helper()
	found := goroutines(all)
	for dir, want := range map[string]bool{
		"internal/entities/stream": true, "internal/http/httpapi": true, "internal/store/sqlite": true, "internal/feeds/provider/pull": true,
		"internal/ground/geo": false, "internal/feeds/bridge": false, "deploy": false,
	} {
		if slices.Contains(found, dir) != want {
			t.Errorf("%s is found: %v, want %v", dir, !want, want)
		}
	}
}
