package budget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestSlotsAreFair checks that callers take turns: who came with ten requests before another's one waits with the second.
func TestSlotsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1)
		done, err := s.Take(t.Context(), caller(1))
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan byte, 20)
		ask := func(who byte) {
			go func() {
				done, err := s.Take(t.Context(), caller(who))
				if err != nil {
					t.Error(err)
					return
				}
				served <- who
				done()
			}()
			synctest.Wait()
		}
		for range 10 {
			ask(1)
		}
		ask(2)
		ask(3)
		done()
		synctest.Wait()
		var order []byte
		for range 12 {
			order = append(order, <-served)
		}
		if string(order[:4]) != "\x01\x02\x03\x01" {
			t.Errorf("served in the order %v, want 1, 2, 3 and then 1 again", order)
		}
		if s.free != 1 || len(s.waiting) != 0 || len(s.order) != 0 {
			t.Errorf("%d slots are free, %d callers wait", s.free, len(s.order))
		}
	})
}

// TestSlotsHearTheContext checks that one who leaves takes no slot with them.
func TestSlotsHearTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1)
		done, err := s.Take(t.Context(), caller(1))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		failed := make(chan error, 1)
		go func() {
			_, err := s.Take(ctx, caller(2))
			failed <- err
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Errorf("failed with %v", err)
		}
		done()
		if s.free != 1 || len(s.waiting) != 0 {
			t.Errorf("%d slots are free, %d callers wait", s.free, len(s.waiting))
		}
	})
}
