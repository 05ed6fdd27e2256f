package osmpbf

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// extract is a made-up file: objects of any type, in any order.
type extract []any

func (e extract) write(t testing.TB, o WriterOptions) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range e {
		switch object := each.(type) {
		case Node:
			err = w.Node(object)
		case Way:
			err = w.Way(object)
		case Relation:
			err = w.Relation(object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// copied appends copies of a block's objects, because the block's memory is reused.
func (e extract) copied(b *Block) extract {
	for _, n := range b.Nodes {
		n.Tags = slices.Clone(n.Tags)
		e = append(e, n)
	}
	for _, w := range b.Ways {
		w.Tags, w.Refs = slices.Clone(w.Tags), slices.Clone(w.Refs)
		e = append(e, w)
	}
	for _, r := range b.Relations {
		r.Tags, r.Members = slices.Clone(r.Tags), slices.Clone(r.Members)
		e = append(e, r)
	}
	return e
}

func (e extract) only(want Types) extract {
	return slices.DeleteFunc(slices.Clone(e), func(each any) bool {
		switch each.(type) {
		case Node:
			return want&Nodes == 0
		case Way:
			return want&Ways == 0
		}
		return want&Relations == 0
	})
}

func openBytes(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readAll(ctx context.Context, f *File, o Options) (e extract, err error) {
	err = f.Scan(ctx, o, func(b *Block) error {
		e = e.copied(b)
		return nil
	})
	return e, err
}

func compare(t testing.TB, what string, want, got extract) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: -want +got:\n%s", what, diff)
	}
}

var (
	anyID   = rapid.OneOf(rapid.Int64(), rapid.Int64Range(1, 1000), rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64}))
	anyText = rapid.OneOf(rapid.SampledFrom([]string{"highway", "residential", "name", "", "\xff\xfe"}), rapid.StringN(0, 20, 300))
)

func drawTags(t *rapid.T) Tags {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Tag { return Tag{anyText.Draw(t, "key"), anyText.Draw(t, "value")} }), 0, 4).Draw(t, "tags")
}

// drawObject draws an object whose position is a multiple of the options' granularity from their offset.
func drawObject(t *rapid.T, o WriterOptions) any {
	id := anyID.Draw(t, "id")
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		refs := rapid.SliceOfN(anyID, 0, 8).Draw(t, "refs")
		return Way{ID: id, Refs: refs, Tags: drawTags(t)}
	case 1:
		members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Member {
			kind := rapid.SampledFrom([]Types{Nodes, Ways, Relations}).Draw(t, "type")
			return Member{Ref: anyID.Draw(t, "ref"), Role: anyText.Draw(t, "role"), Type: kind}
		}), 0, 6).Draw(t, "members")
		return Relation{ID: id, Members: members, Tags: drawTags(t)}
	}
	place := func(what string, limit, offset int64) int64 {
		step := int64(o.Granularity)
		return rapid.Int64Range(-limit/step, limit/step).Draw(t, what)*step + offset
	}
	return Node{ID: id, Lat: place("lat", 90e9, o.LatOffset), Lng: place("lng", 180e9, o.LngOffset), Tags: drawTags(t)}
}

func drawOptions(t *rapid.T) WriterOptions {
	offset := rapid.OneOf(rapid.Just[int64](0), rapid.Int64Range(-200e9, 200e9))
	return WriterOptions{
		Encoding:    rapid.SampledFrom([]Encoding{Zlib, Raw, Zstd, LZ4}).Draw(t, "encoding"),
		PlainNodes:  rapid.Bool().Draw(t, "plain nodes"),
		Granularity: rapid.OneOf(rapid.Just[int32](100), rapid.Int32Range(1, math.MaxInt32)).Draw(t, "granularity"),
		LatOffset:   offset.Draw(t, "lat offset"),
		LngOffset:   offset.Draw(t, "lng offset"),
		BlockSize:   rapid.IntRange(1, 20).Draw(t, "block size"),
	}
}

// TestRoundTrip checks that written objects are read in the same order, whatever types are wanted and in any pass, and
// that writing is deterministic.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := drawOptions(rt)
		want := extract(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawObject(t, o) }), 0, 60).Draw(rt, "objects"))
		data := want.write(t, o)
		if !bytes.Equal(data, want.write(t, o)) {
			rt.Fatal("written twice, the bytes differ")
		}
		f := openBytes(t, data)
		for pass := range 3 {
			scan := Options{
				Want:    Types(rapid.IntRange(0, int(all)).Draw(rt, "want")),
				Workers: rapid.IntRange(0, 4).Draw(rt, "workers"),
			}
			got, err := readAll(t.Context(), f, scan)
			if err != nil {
				rt.Fatal(err)
			}
			if scan.Want == 0 {
				scan.Want = all
			}
			if diff := cmp.Diff(want.only(scan.Want), got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("pass %d, -want +got:\n%s", pass, diff)
			}
		}
	})
}

func TestPositionsAreRounded(t *testing.T) {
	want := map[int64]int64{0: 0, 49: 0, 50: 100, -49: 0, -50: -100, -51: -100, 149: 100, 43_738_456_789: 43_738_456_800}
	for in, rounded := range want {
		f := openBytes(t, extract{Node{ID: 1, Lat: in, Lng: in}}.write(t, WriterOptions{}))
		got, err := readAll(t.Context(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, fmt.Sprint(in), extract{Node{ID: 1, Lat: rounded, Lng: rounded}}, got)
	}
}

func TestPointIsInDegrees(t *testing.T) {
	if p := (Node{Lat: 43_738_456_700, Lng: -7_424_616_100}).Point(); p.Lat != 43.7384567 || p.Lng != -7.4246161 {
		t.Errorf("Point() = %v", p)
	}
	if p := (Node{Lat: math.MaxInt64}).Point(); p.Valid() {
		t.Errorf("%v is a place on the globe", p)
	}
}

func TestHeader(t *testing.T) {
	asOf := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	o := WriterOptions{Program: "test", AsOf: asOf, Optional: []string{"Sort.Type_then_ID"}}
	want := Header{Required: []string{"OsmSchema-V0.6", "DenseNodes"}, Optional: o.Optional, Program: "test", AsOf: asOf}
	if diff := cmp.Diff(want, openBytes(t, extract{}.write(t, o)).Header); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFilesInARow checks that concatenated extracts are read as one.
func TestFilesInARow(t *testing.T) {
	one, two := extract{Node{ID: 1}, Way{ID: 2, Refs: []int64{1}}}, extract{Node{ID: 3}}
	f := openBytes(t, append(one.write(t, WriterOptions{}), two.write(t, WriterOptions{Encoding: Zstd})...))
	for range 2 {
		got, err := readAll(t.Context(), f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "both", slices.Concat(one, two), got)
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, o := range map[string]WriterOptions{
		"negative granularity": {Granularity: -1}, "negative block size": {BlockSize: -1}, "unknown encoding": {Encoding: 9},
	} {
		if _, err := NewWriter(&bytes.Buffer{}, o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, object := range map[string]any{
		"too many references": Way{Refs: make([]int64, maxItems+1)},
		"no type of a member": Relation{Members: []Member{{Ref: 1}}},
		"a text of 32 MiB":    Way{Tags: Tags{{"name", strings.Repeat("x", maxBlob)}}},
	} {
		w, err := NewWriter(&bytes.Buffer{}, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if way, ok := object.(Way); ok {
			err = w.Way(way)
		} else {
			err = w.Relation(object.(Relation))
		}
		if err == nil {
			err = w.Close()
		}
		if err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// FuzzRead checks that no file makes reading panic, hang or take much memory, and that a refused file is refused with an
// Error that names a byte in it.
func FuzzRead(f *testing.F) {
	objects := extract{
		Node{ID: 1, Lat: 1e9, Lng: 2e9, Tags: Tags{{"highway", "stop"}}},
		Node{ID: -2},
		Way{ID: math.MaxInt64, Refs: []int64{1, -2}, Tags: Tags{{"highway", "primary"}}},
		Relation{ID: 4, Members: []Member{{1, "via", Nodes}, {math.MaxInt64, "from", Ways}}, Tags: Tags{{"type", "restriction"}}},
	}
	for encoding := Zlib; encoding <= LZ4; encoding++ {
		f.Add(objects.write(f, WriterOptions{Encoding: encoding}))
		f.Add(objects.write(f, WriterOptions{Encoding: encoding, PlainNodes: true, Granularity: 7, LatOffset: 5, LngOffset: -5}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			_ = wantFault(t, err, len(data))
			return
		}
		first, err := readAll(t.Context(), file, Options{Workers: 2})
		if err != nil {
			_ = wantFault(t, err, len(data))
			return
		}
		second, err := readAll(t.Context(), file, Options{Workers: 1})
		if err != nil {
			t.Fatalf("only the second pass fails: %v", err)
		}
		compare(t, "second pass", first, second)
	})
}
