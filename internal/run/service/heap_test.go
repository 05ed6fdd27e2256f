package service

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGrowth(t *testing.T) {
	for live, want := range map[uint64]int{0: 200, 1 << 20: 200, 48 << 20: 200, 96 << 20: 100, 384 << 20: 25, 8 << 30: 15} {
		if got := growth(live, 0); got != want {
			t.Errorf("with %d MiB alive the heap grows by %d %%, want %d", live>>20, got, want)
		}
	}
}

func TestSoftLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: 106 << 20, 40 << 20: 146 << 20, 500 << 20: 606 << 20, 2000 << 20: 2310 << 20} {
		if got := softLimit(live, 10<<20, 0); got != want {
			t.Errorf("with %d MiB alive the limit is %d MiB, want %d", live>>20, got>>20, want>>20)
		}
	}
}

// TestHeadroomOfFloods checks that the heap grows less between collections while requests hold much.
func TestHeadroomOfFloods(t *testing.T) {
	for held, want := range map[uint64]uint64{0: 96, 10: 86, 48: 48, 144: 48} {
		if got := headroom(held << 20); got != want<<20 {
			t.Errorf("while requests hold %d MiB the heap grows by %d MiB, want %d", held, got>>20, want)
		}
	}
	if got := growth(96<<20, 40<<20); got != 58 {
		t.Errorf("the heap grows by %d %%", got)
	}
	if got := softLimit(200<<20, 10<<20, 40<<20); got != 266<<20 {
		t.Errorf("the limit is %d MiB", got>>20)
	}
}

func TestWorthGivingBack(t *testing.T) {
	for _, tt := range []struct {
		name              string
		excess, allocated uint64
		want              bool
	}{
		{"after a flood", 300 << 20, 10 << 20, true},
		{"little", 31 << 20, 0, false},
		{"enough, and nothing is done", 32 << 20, 0, true},
		{"a busy service", 300 << 20, 250 << 20, false},
		{"used again within a minute", 300 << 20, 51 << 20, false},
		{"not used again within a minute", 300 << 20, 49 << 20, true},
	} {
		if got := worthGivingBack(tt.excess, tt.allocated); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestGiveBack checks that the memory of a flood, with that in pools, is returned to the system after the third reading.
func TestGiveBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	freeMemory()
	tuner := newHeapTuner(func() (now, most int) { return 0, 0 })
	tuner.giveBack()
	floor := tuner.floor
	flood := make([][]byte, 200)
	for i := range flood {
		flood[i] = make([]byte, 1<<20)
		flood[i][0] = 1
	}
	if now := usedMemory(); now < floor+150<<20 {
		t.Fatalf("a flood of 200 MiB takes %d MiB", (now-floor)>>20)
	}
	runtime.KeepAlive(flood) // stays allocated until here
	for range giveBackWindow + 2 {
		tuner.giveBack()
	}
	if now := usedMemory(); now > floor+16<<20 {
		t.Errorf("%d MiB of a flood are still held", (now-floor)>>20)
	}
}

func usedMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// TestTuningFollowsCollections checks that the bounds are set after a collection, and not only when the memory is read.
func TestTuningFollowsCollections(t *testing.T) {
	collected := make(chan struct{}, 1)
	notifyOfCollection(collected)
	runtime.GC()
	select {
	case <-collected:
	case <-time.After(time.Minute):
		t.Error("a collection was not noticed")
	}
}
