package bridge

import (
	"context"
	"errors"
	"math"
	"testing"

	"wayside/internal/feeds/format"
)

// TestItemsAreBounded checks that a document may have a million items, those that are skipped among them.
func TestItemsAreBounded(t *testing.T) {
	for items, want := range map[int]bool{1_000_000: true, 1_000_001: false} {
		f := Format{convert: func(_ format.Document, _ *format.Options, yield func(format.Item) error) (format.Summary, error) {
			for range items {
				if err := yield(format.Item{Skip: format.Schedule}); err != nil {
					return format.Summary{}, err
				}
			}
			return format.Summary{}, nil
		}}
		var skips Skips
		_, err := f.Convert(format.Document{}, &format.Options{Budget: format.NewBudget(context.Background(), math.MaxInt)}, &skips, nil)
		var failed *format.Error
		if (err == nil) != want || err != nil && (!errors.As(err, &failed) || failed.Fault != format.TooMany) {
			t.Errorf("%d items: %v", items, err)
		}
	}
}
