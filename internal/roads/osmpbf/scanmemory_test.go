package osmpbf

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
)

// TestMemoryIsBounded checks the heap, including garbage, while files are read whose objects take gigabytes, with usual
// blocks and with the worst that the format allows.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	usual := numbered(8000).write(t, WriterOptions{})
	header := int(openBytes(t, usual).data)
	zeros := func(count int) []byte { return make([]byte, count) }
	ones := bytes.Repeat([]byte{2}, 9<<20)
	dense := slices.Concat(appendBytes(nil, 1<<3|asBytes, ones), appendBytes(nil, 8<<3|asBytes, zeros(len(ones))), appendBytes(nil, 9<<3|asBytes, zeros(len(ones))))
	strings := appendBytes(nil, pbTexts, bytes.Repeat([]byte{10, 0}, maxStrings))
	large := compressedBlock(t, Zlib, slices.Concat(strings, group(groupDense, dense)))
	tests := []struct {
		name        string
		file        repeated
		nodes, most int64
	}{
		{"usual blocks", repeated{usual[:header], usual[header:], 500}, 500 * 8000, 64 << 20},
		{"blocks of nine million nodes", repeated{fileHeader(), large, 3}, 3 * 9 << 20, 200 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(tt.file, tt.file.size())
			if err != nil {
				t.Fatal(err)
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			before, peak, nodes, blocks := m.HeapAlloc, uint64(0), int64(0), 0
			err = f.Scan(t.Context(), Options{Want: Nodes, Workers: 4}, func(b *Block) error {
				nodes += int64(len(b.Nodes))
				if blocks++; blocks%64 == 0 {
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
				}
				return nil
			})
			if err != nil || nodes != tt.nodes {
				t.Fatalf("%d nodes, %v", nodes, err)
			}
			t.Logf("%d MB, %d million nodes: at most %d MiB more than before", tt.file.size()>>20, nodes/1e6, peak>>20)
			if peak > uint64(tt.most) {
				t.Errorf("%d MiB, want at most %d", peak>>20, tt.most>>20)
			}
		})
	}
}
