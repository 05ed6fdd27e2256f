package geocode_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"wayside/internal/roads/geocode"
	"wayside/internal/roads/roadtest"
)

// TestClientsThatLeftDoNotWait checks that a search leaves the queue for memory when its client leaves, and that a
// search whose client left earlier takes no memory (F10).
func TestClientsThatLeftDoNotWait(t *testing.T) {
	x := drawn(t, roadtest.Map(t, 100, "a--b", roadtest.Way("ab", "highway=residential, name=Main Street")))
	release := x.Occupy()
	left := errors.New("the client left")
	searches := map[string]func(ctx context.Context) ([]geocode.Result, error){
		"search": func(ctx context.Context) ([]geocode.Result, error) {
			return x.Search(ctx, nil, &geocode.Query{Text: "main street", Limit: 1, Language: -1})
		},
		"reverse": func(ctx context.Context) ([]geocode.Result, error) {
			return x.Reverse(ctx, nil, &geocode.Near{At: x.graph.PieceLine(0)[0].Point(), Radius: 1000, Limit: 1, Language: -1})
		},
	}
	for name, search := range searches {
		ctx, leave := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := search(ctx)
			ended <- err
		}()
		leave(left)
		select {
		case err := <-ended:
			if !errors.Is(err, left) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("a %s whose client left still waits", name)
		}
	}
	release()
	for name, search := range searches {
		gone, leave := context.WithCancelCause(t.Context())
		leave(left)
		for range 50 { // if both were ready, a select would choose at random
			if _, err := search(gone); !errors.Is(err, left) {
				t.Fatalf("%s of a client that left: %v", name, err)
			}
		}
		if found, err := search(t.Context()); err != nil || len(found) != 1 {
			t.Errorf("%s: %d results (%v)", name, len(found), err)
		}
	}
}

// searcher is an index, or a test's wrapper of one.
type searcher interface {
	Search(ctx context.Context, dst []geocode.Result, q *geocode.Query) ([]geocode.Result, error)
	Reverse(ctx context.Context, dst []geocode.Result, q *geocode.Near) ([]geocode.Result, error)
}

// search searches with a context that never ends, so that it cannot fail.
func search(x searcher, q *geocode.Query) []geocode.Result {
	results, _ := x.Search(context.Background(), nil, q)
	return results
}

// reverse searches around a place with a context that never ends.
func reverse(x searcher, q *geocode.Near) []geocode.Result {
	results, _ := x.Reverse(context.Background(), nil, q)
	return results
}
