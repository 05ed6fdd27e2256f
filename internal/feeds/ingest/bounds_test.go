package ingest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestBatchesAreBounded checks that a batch has at most 5000 rows.
func TestBatchesAreBounded(t *testing.T) {
	for rows, want := range map[int]bool{5000: true, 5001: false} {
		_, err := readBatch(bytes.NewReader(rowsOf(rows, 1)), time.Now(), func(int) error { return nil })
		if (err == nil) != want || err != nil && !errors.Is(err, mapdata.ErrMalformed) && !errors.Is(err, mapdata.ErrTooLarge) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}
