package safehttp

import (
	"strings"
	"testing"
)

// TestNamesOfHostsAreBounded checks that the name of a host has at most 253 bytes, and each of its labels 63.
func TestNamesOfHostsAreBounded(t *testing.T) {
	for length, bad := range map[int]bool{63: false, 64: true, 600: true} {
		if got := badLabel(strings.Repeat("a", length)); got != bad {
			t.Errorf("a label of %d bytes is bad: %t", length, got)
		}
	}
	label := strings.Repeat("a", 49) + "."
	for length, want := range map[int]bool{253: true, 254: false, 2000: false} {
		name := strings.Repeat(label, length/50)
		name = name[:length-len("b.example.org")] + "b.example.org"
		if _, err := CheckHost(name); (err == nil) != want {
			t.Errorf("a host of %d bytes: %v", len(name), err)
		}
		if _, err := OperatorURL("http://" + name + "/"); (err == nil) != want {
			t.Errorf("an operator's host of %d bytes: %v", len(name), err)
		}
	}
}
