package format_test

import (
	"context"
	"errors"
	"testing"

	"wayside/internal/feeds/format"
)

// refused returns the fault for which the budget is spent.
func refused(b *format.Budget) format.Fault {
	var bad *format.Error
	if errors.As(b.Err(), &bad) {
		return bad.Fault
	}
	return ""
}

// TestBudget checks each bound at its last step and one beyond, with the numbers of the decisions.
func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spend func(b *format.Budget, n int) bool
		most  int
		want  format.Fault
	}{
		{"work", (*format.Budget).Spend, 7_000_000_000, format.TooMany},
		{"bytes of an item", (*format.Budget).Hold, 32 << 20, format.TooLarge},
		{"bytes kept of a document", (*format.Budget).Keep, 64 << 20, format.TooMany},
	} {
		b := format.NewBudget(t.Context(), format.MaxWork)
		if !tt.spend(b, tt.most) || b.Err() != nil {
			t.Errorf("%s: %d are refused: %v", tt.name, tt.most, b.Err())
		}
		if tt.spend(b, 1) || refused(b) != tt.want {
			t.Errorf("%s: one more than %d: %v", tt.name, tt.most, b.Err())
		}
		if b.Spend(1) || b.Hold(1) || b.Keep(1) {
			t.Errorf("%s: something is left of a budget that is spent", tt.name)
		}
	}
}

// TestBudgetOfItems checks that NextItem releases the bytes of an item, and keeps those of the document.
func TestBudgetOfItems(t *testing.T) {
	b := format.NewBudget(t.Context(), format.MaxWork)
	for range 10 {
		b.NextItem()
		if b.Room() != 32<<20 || !b.Hold(30<<20) || b.Room() != 2<<20 || !b.Keep(6<<20) {
			t.Fatal(b.Err(), b.Room())
		}
	}
	if b.Keep(6 << 20) {
		t.Error("66 MiB are kept")
	}
}

// TestBudgetHearsItsContext checks that a budget is spent within a millisecond of counted work after its context has ended.
func TestBudgetHearsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := format.NewBudget(ctx, format.MaxWork)
	if !b.Spend(1) {
		t.Fatal(b.Err())
	}
	cancel()
	steps := 0
	for b.Spend(1000) {
		if steps++; steps > 1000 {
			t.Fatal("more than a millisecond of work after the end of the context")
		}
	}
	if !errors.Is(b.Err(), context.Canceled) {
		t.Error(b.Err())
	}
}

// TestNoBudget checks that a nil budget bounds nothing.
func TestNoBudget(t *testing.T) {
	var b *format.Budget
	if !b.Spend(1<<40) || !b.Hold(1<<40) || !b.Keep(1<<40) || b.Err() != nil {
		t.Error("something is bounded")
	}
	b.NextItem()
}
