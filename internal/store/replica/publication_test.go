package replica

import (
	"context"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestUnchanged checks the promise to a reader of several projections: a read is of one revision if and only if no publication met
// it.
func TestUnchanged(t *testing.T) {
	var p publication
	before := p.Begin()
	if !p.Unchanged(before) {
		t.Error("a read at rest met a publication")
	}
	p.publish(func() mapdata.Touched {
		if p.Unchanged(before) {
			t.Error("a read went on into a publication, and is said to be of one revision")
		}
		if p.Unchanged(p.Begin()) {
			t.Error("a read that began during a publication is said to be of one revision")
		}
		return mapdata.Touched{}
	})
	if p.Unchanged(before) {
		t.Error("a read went on beyond a publication, and is said to be of one revision")
	}
	if !p.Unchanged(p.Begin()) {
		t.Error("a read after a publication met one")
	}
}

// manyEntities is a store of which only the number of entities matters.
type manyEntities struct {
	Store
	count int
}

func (s manyEntities) AllEntities(_ context.Context, _, _ int, yield func(*mapdata.Entity)) error {
	for range s.count {
		yield(&mapdata.Entity{})
	}
	return nil
}

// TestProgress checks that a load reports its progress in steps, and never more than it has read.
func TestProgress(t *testing.T) {
	read, reported := 0, 0
	s := &snapshot{store: manyEntities{count: 2*progressStep + 1}, opts: &Options{Progress: func(entities int) {
		if reported += entities; reported > read {
			t.Fatalf("%d reported, %d read", reported, read)
		}
	}}}
	if err := s.Entities(t.Context(), 0, 1, func(*mapdata.Entity) { read++ }); err != nil {
		t.Fatal(err)
	}
	if reported != 2*progressStep {
		t.Errorf("%d of %d reported", reported, read)
	}
}
