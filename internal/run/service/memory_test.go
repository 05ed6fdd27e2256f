package service

import (
	"errors"
	"testing"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// TestRequestMemory checks that the memory of requests leaves room within the 300 MiB that strangers may cost for the heap's
// headroom of 96 MiB and for connections.
func TestRequestMemory(t *testing.T) {
	if allMemory > 150<<20 || heapHeadroom > 96<<20 {
		t.Errorf("requests may hold %d MiB, and the heap grows by %d", allMemory>>20, heapHeadroom>>20)
	}
	m := newRequestMemory()
	if m.pushes == nil || m.checks == nil || m.routes == nil || m.reads == nil {
		t.Error("a kind of request has no bound")
	}
}

// TestPushersAtOnce checks what D7.1 leaves for several pushers: three accounts may have the largest batch there is in memory at once, 16 MiB
// of 5 000 rows; no account holds more than 32 MiB; and fifteen may have 5 000 rows of 200 bytes.
func TestPushersAtOnce(t *testing.T) {
	const rowOverhead, buffers = 512, 192 << 10
	const largest = 16<<20 + ingest.MaxBatchRows*(rowOverhead-len(`{"external_id":"","kind":"","lat":1,"lng":1,"properties":},`)) + buffers
	const usual = ingest.MaxBatchRows*(rowOverhead+200) + buffers
	if pushMemory > 128<<20 {
		t.Errorf("bodies may hold %d MiB, more than D7.1 says", pushMemory>>20)
	}
	for _, tt := range []struct {
		bytes, accounts, each int
		more, another         error // of one more batch, by the last account and by another one
	}{
		{largest, 3, 1, budget.ErrShare, budget.ErrFull},
		{largest, 1, 1, budget.ErrShare, nil},
		{usual, 15, 1, budget.ErrFull, budget.ErrFull},
		{usual, 1, 8, budget.ErrShare, nil},
	} {
		pushes := newRequestMemory().pushes
		grow := func(account int) error {
			return pushes.Begin(ratelimit.AccountKey(ratelimit.HeldBytes, mapdata.AccountID{byte(account)})).Grow(tt.bytes)
		}
		for account := range tt.accounts {
			for range tt.each {
				if err := grow(account); err != nil {
					t.Errorf("batch of %d KiB by account %d of %d: %v", tt.bytes>>10, account+1, tt.accounts, err)
				}
			}
		}
		if err := grow(tt.accounts - 1); !errors.Is(err, tt.more) {
			t.Errorf("%d accounts with %d batches of %d KiB each, one more: %v, want %v", tt.accounts, tt.each, tt.bytes>>10, err, tt.more)
		}
		if err := grow(tt.accounts); !errors.Is(err, tt.another) {
			t.Errorf("%d accounts with %d batches of %d KiB each, another account: %v, want %v", tt.accounts, tt.each, tt.bytes>>10, err, tt.another)
		}
	}
}
