package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

// TestSkipsAreBounded checks what is kept of items that were skipped: their number, twenty words and three examples of ids a reason
// (D17.11).
func TestSkipsAreBounded(t *testing.T) {
	var skips bridge.Skips
	for i := range 100 {
		skips.Add(format.Item{Skip: format.NoKind, Word: fmt.Sprint("word ", i%25), ID: fmt.Sprint("id ", i/2)})
	}
	skips.Add(format.Item{Skip: format.NoKind})
	skips.Add(format.Item{Skip: format.NoID, Word: strings.Repeat("é", 100)})
	list := skips.List()
	if len(list) != 2 || skips.Total() != 102 || list[0].Reason != format.NoID || list[1].Reason != format.NoKind {
		t.Fatalf("%+v", list)
	}
	if one := list[1]; one.Items != 101 || len(one.Words) != 20 || one.Words["word 0"] != 4 || fmt.Sprint(one.Examples) != "[id 0 id 1 id 2]" {
		t.Errorf("%d items, %d words, examples %v", one.Items, len(one.Words), one.Examples)
	}
	if one := list[0]; one.Words[strings.Repeat("é", 64)] != 1 || one.Examples != nil {
		t.Errorf("%+v", one)
	}
}
