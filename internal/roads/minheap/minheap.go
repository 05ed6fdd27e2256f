// Package minheap is a priority queue: a binary heap of values with keys, the least key first. It exists because
// container/heap would box each entry.
package minheap

import "cmp"

// Entry is a value with its key. The value comes first, so that a value without a size takes no memory.
type Entry[K cmp.Ordered, V any] struct {
	Value V
	Key   K
}

// Heap is a priority queue. The zero Heap is empty.
type Heap[K cmp.Ordered, V any] struct{ entries []Entry[K, V] }

// Len returns the number of entries.
func (h *Heap[K, V]) Len() int { return len(h.entries) }

// Clear removes all entries and keeps the memory.
func (h *Heap[K, V]) Clear() { h.entries = h.entries[:0] }

// Push adds an entry.
func (h *Heap[K, V]) Push(key K, value V) {
	entry := Entry[K, V]{value, key}
	h.entries = append(h.entries, entry)
	heap, at := h.entries, len(h.entries)-1
	for at > 0 && key < heap[(at-1)/2].Key {
		heap[at] = heap[(at-1)/2]
		at = (at - 1) / 2
	}
	heap[at] = entry
}

// Pop removes the entry with the least key. The heap must not be empty.
func (h *Heap[K, V]) Pop() (K, V) {
	first, last := h.entries[0], len(h.entries)-1
	entry := h.entries[last]
	heap := h.entries[:last]
	h.entries = heap
	at := 0
	for child := 1; child < last; child = 2*at + 1 {
		if child+1 < last && heap[child+1].Key < heap[child].Key {
			child++
		}
		if entry.Key <= heap[child].Key {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	if last > 0 {
		heap[at] = entry
	}
	return first.Key, first.Value
}
