package pull

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestHeldFeedsAreBounded checks that a poller claims 8192 feeds at most, and holds 128 of them on one host.
func TestHeldFeedsAreBounded(t *testing.T) {
	p := &Poller{held: map[mapdata.FeedID]*job{}, hosts: map[string]int{}}
	if got := p.room(); got != 8192 {
		t.Errorf("a poller that holds nothing claims %d feeds, want 8192", got)
	}
	held := 0
	for i := range 2000 {
		f := &mapdata.Feed{PullURL: fmt.Sprintf("https://data.example.org/%d", i)}
		binary.BigEndian.PutUint16(f.ID[:], uint16(i)) //nolint:gosec // at most 2000
		if _, j := p.take(t.Context(), f, time.Now().Add(time.Minute)); j != nil {
			held++
			defer j.cancel(nil)
		}
	}
	if held != 128 || p.room() != 8192-128 {
		t.Errorf("%d feeds of one host are held, and %d more are claimed", held, p.room())
	}
}
