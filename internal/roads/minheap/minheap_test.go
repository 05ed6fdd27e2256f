package minheap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wayside/internal/roads/minheap"
)

func TestHeapGivesLeastKeyFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var heap minheap.Heap[uint32, int]
	for range 200 {
		var keys []uint32
		for value := range random.IntN(100) {
			key := random.Uint32N(20)
			keys = append(keys, key)
			heap.Push(key, value)
		}
		want := slices.Sorted(slices.Values(keys))
		for i := range want {
			if i%7 == 3 { // alternate pops and pushes
				key, value := heap.Pop()
				heap.Push(key, value)
			}
			key, value := heap.Pop()
			if key != want[i] || keys[value] != key {
				t.Fatalf("entry %d: key %d with the value of key %d, want %d", i, key, keys[value], want[i])
			}
		}
		if heap.Len() != 0 {
			t.Fatalf("%d entries are left", heap.Len())
		}
	}
}

func TestHeapClears(t *testing.T) {
	var heap minheap.Heap[float64, struct{}]
	heap.Push(2, struct{}{})
	heap.Clear()
	heap.Push(3, struct{}{})
	if key, _ := heap.Pop(); key != 3 || heap.Len() != 0 {
		t.Errorf("key %v, %d left; want 3 and none", key, heap.Len())
	}
}
