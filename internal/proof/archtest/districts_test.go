package archtest

import (
	"testing"
	"testing/fstest"
)

// TestCheckDistricts uses its own tables, because the errors in a table depend on the whole module.
func TestCheckDistricts(t *testing.T) {
	low, high := district{name: "low"}, district{"high", []string{"low"}}
	tests := []struct {
		name, path, text string // of one file more
		table            []district
		want             string // part of the one finding; empty: none
	}{
		{"an arrow down", "internal/high/b/c/more.go", `package c; import _ "wayside/internal/low/a"`, []district{low, high}, ""},
		{"an arrow within a district", "internal/low/c/c.go", `package c; import _ "wayside/internal/low/a"`, []district{low, high}, ""},
		{"an arrow up", "internal/low/a/more.go", `package a; import _ "wayside/internal/high/b"`, []district{low, high}, "the district low may not know high"},
		{"an arrow up of a test", "internal/low/a/a_test.go", `package a; import _ "wayside/internal/high/b"`, []district{low, high}, ""},
		{"an arrow up of a suite", "internal/store/storetest/a.go", `package storetest; import _ "wayside/internal/high/b"`, []district{low, high}, ""},
		{"an arrow to an unknown district", "internal/low/a/more.go", `package a; import _ "wayside/internal/far/b"`, []district{low, high}, "the district low may not know far"},
		{"an unknown district", "internal/new/a/a.go", "package a", []district{low, high}, "internal/new is not in archtest's table of districts"},
		{"a package beside the districts", "internal/a.go", "package internal", []district{low, high}, ""},
		{"a client of the program", "bench/a.go", `package bench; import _ "wayside/internal/high/b"`, []district{low, high}, ""},
		{"a permission that nobody uses", "internal/next/a/a.go", "package a", []district{low, high, {"next", []string{"low"}}}, `next does not import low: remove "low"`},
		{"a district that is not there", "internal/low/a/more.go", "package a", []district{low, high, {name: "gone"}}, "there is no district internal/gone"},
		{"an arrow up in the table", "internal/low/a/more.go", `package a; import _ "wayside/internal/high/b"`, []district{{"low", []string{"high"}}, high}, "low may know high, which does not stand above it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := readModule(fstest.MapFS{
				"internal/low/a/a.go": {Data: []byte("package a")}, "internal/high/b/b.go": {Data: []byte(`package b; import _ "wayside/internal/low/a"`)},
				tt.path: {Data: []byte(tt.text)},
			})
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, checkDistricts(all, tt.table), tt.want)
		})
	}
}
