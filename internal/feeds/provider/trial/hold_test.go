package trial

import (
	"errors"
	"testing"

	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
)

// TestFormsShareMemory checks that a form of 4 MiB counts as 24 MiB, and that another one is refused beside it.
func TestFormsShareMemory(t *testing.T) {
	c := newChecker(t, nil)
	c.Memory = budget.New(24<<20).Part(24<<20, 24<<20)
	release, err := c.Hold(mapdata.AccountID{1}, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if held := c.Memory.Held(); held != 24<<20 {
		t.Errorf("%d bytes are held", held)
	}
	if _, err := c.Hold(mapdata.AccountID{2}, 1); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("a form beside it: %v", err)
	}
	release()
	if release, err = c.Hold(mapdata.AccountID{2}, 1); err != nil {
		t.Error(err)
	}
	release()
}
