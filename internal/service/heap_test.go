package service

import "testing"

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{0: 200, 1 << 20: 200, 64 << 20: 200, 128 << 20: 100, 512 << 20: 25, 8 << 30: 15} {
		if got := growth(live); got != want {
			t.Errorf("with %d MiB alive the heap grows by %d %%, want %d", live>>20, got, want)
		}
	}
}
