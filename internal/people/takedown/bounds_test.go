package takedown

import (
	"context"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// limited is a Store that notes how many pins and complaints it is asked for.
type limited struct {
	Store
	pins, complaints int
}

func (l *limited) HiddenPins(_ context.Context, _ mapdata.SourceID, _ time.Time, limit int) ([]mapdata.HiddenPin, error) {
	l.pins = limit
	return nil, nil
}

func (l *limited) Complaints(_ context.Context, limit int) ([]mapdata.Complaint, int, error) {
	l.complaints = limit
	return nil, 0, nil
}

// TestListsAreBounded checks that 200 pins and 200 complaints are listed.
func TestListsAreBounded(t *testing.T) {
	store := new(limited)
	s := New(Config{Store: store, Now: time.Now})
	if _, err := s.Hidden(t.Context(), mapdata.Operator(), mapdata.FeedID{}); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Complaints(t.Context(), mapdata.Operator()); err != nil {
		t.Error(err)
	}
	if store.pins != 200 || store.complaints != 200 {
		t.Errorf("%d pins and %d complaints are listed", store.pins, store.complaints)
	}
}
