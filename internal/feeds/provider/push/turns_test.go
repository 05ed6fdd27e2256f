package push_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// TestPushesShareMemory checks that a push is refused while other requests hold all memory of its part, and that
// nothing is held afterwards.
func TestPushesShareMemory(t *testing.T) {
	d := newDock(t)
	part := push.Memory(budget.New(1<<20), 1<<20)
	d.Service.Memory = part
	others := part.Begin(ratelimit.AccountKey(ratelimit.HeldBytes, mapdata.AccountID{1}))
	others.Set(1 << 20)
	if _, err := d.push(t, d.token, strings.NewReader("[]")); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("without room: %v", err)
	}
	others.Release()
	if _, err := d.push(t, d.token, strings.NewReader("[]")); err != nil {
		t.Errorf("with room: %v", err)
	}
	if held := part.Held(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}

// TestWaitingBodiesHoldNoTurn checks that another body can be decoded while a body waits for its client.
func TestWaitingBodiesHoldNoTurn(t *testing.T) {
	d := newDock(t)
	d.Service.Work = ratelimit.NewGate(1, 1)
	body, sending := io.Pipe()
	slow := make(chan error, 1)
	go func() {
		_, err := d.push(t, d.token, body)
		slow <- err
	}()
	if _, err := io.WriteString(sending, "["); err != nil { // returns when it was read
		t.Fatal(err)
	}
	if _, err := d.push(t, d.token, strings.NewReader("[]")); err != nil {
		t.Errorf("beside a body that waits: %v", err)
	}
	if _, err := io.WriteString(sending, "]"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sending.Close(), <-slow); err != nil {
		t.Error(err)
	}
}
