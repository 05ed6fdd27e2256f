package osmpbf

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// wantFault checks that an error is one line that names a byte in the file.
func wantFault(t testing.TB, err error, size int) *Error {
	t.Helper()
	var fault *Error
	if !errors.As(err, &fault) {
		t.Fatalf("%v (%T) is no Error", err, err)
	}
	if fault.Offset < 0 || fault.Offset > int64(size) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%q does not name a byte of %d in one line", err, size)
	}
	return fault
}

// block returns a block as stored: its header and its blob.
func block(kind string, blob []byte) []byte {
	header := appendNumber(appendText(nil, blockType, kind), blockSize, uint64(len(blob)))
	return slices.Concat([]byte{0, 0, 0, byte(len(header))}, header, blob)
}

func rawBlock(kind string, message []byte) []byte {
	return block(kind, appendBytes(nil, blobRaw, message))
}

// fileWith returns a file of a header and one block whose message has the given fields.
func fileWith(fields ...[]byte) []byte {
	return slices.Concat(fileHeader(), rawBlock(dataType, slices.Concat(fields...)))
}

func fileHeader(features ...string) []byte {
	var message []byte
	for _, feature := range append([]string{"OsmSchema-V0.6"}, features...) {
		message = appendText(message, headerRequired, feature)
	}
	return rawBlock(headerType, message)
}

// varints encodes an array.
func varints(values ...uint64) (b []byte) {
	for _, v := range values {
		b = protowire.AppendVarint(b, v)
	}
	return b
}

func group(tag uint64, object ...[]byte) []byte {
	return appendBytes(nil, pbGroup, appendBytes(nil, tag, slices.Concat(object...)))
}

func array(number uint64, values ...uint64) []byte {
	return appendBytes(nil, number<<3|asBytes, varints(values...))
}

func number(tag, value uint64) []byte { return appendNumber(nil, tag, value) }

func table(texts ...string) []byte {
	var b []byte
	for _, text := range texts {
		b = appendText(b, 1<<3|asBytes, text)
	}
	return appendBytes(nil, pbTexts, b)
}

type faultCase struct {
	name string
	data []byte
	at   int    // the byte that the error must name
	want string // part of the error's text
}

// foreignFiles returns files that are not extracts.
func foreignFiles() []faultCase {
	overlong := slices.Concat([]byte{byte(blobSize)}, bytes.Repeat([]byte{0xff}, 11))
	return []faultCase{
		{"nothing", nil, 0, "empty"},
		{"XML", []byte("<?xml version='1.0'?><osm/>"), 0, "XML"},
		{"XML with a byte order mark", []byte("\xef\xbb\xbf<?xml version='1.0'?><osm/>"), 0, "XML"},
		{"gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), 0, "gzip"},
		{"bzip2", []byte("BZh91AY&SY"), 0, "bzip2"},
		{"three bytes", []byte{0, 0, 0}, 0, "ends within the length"},
		{"text", []byte("what is this?"), 0, "not PBF, or damaged"},
		{"zeros", make([]byte, 100), 0, "not PBF, or damaged"},
		{"no header", rawBlock(dataType, nil), 0, "instead of a header"},
		{"a header that is cut off", fileHeader()[:20], 0, "ends within the block"},
		{"a header's header that is cut off", fileHeader()[:8], 0, "ends within a block's header"},
		{"history", fileHeader("HistoricalInformation"), 0, "history"},
		{"an unknown feature", fileHeader("DenseNodes", "Teleportation"), 0, `"Teleportation"`},
		{"a very long feature", fileHeader(strings.Repeat("x", 100)), 0, strings.Repeat("x", 40) + "…"},
		{"a type without a size", slices.Concat([]byte{0, 0, 0, 11}, appendText(nil, blockType, headerType)), 0, "lacks the type or the size"},
		{"a size beyond the format's", slices.Concat([]byte{0, 0, 0, 16}, appendNumber(appendText(nil, blockType, headerType), blockSize, 1<<27)), 0, "134217728 bytes"},
		{"overlong varint", block(headerType, overlong), 0, "not protobuf"},
		{"a header of LZ4 that claims to be nothing", block(headerType, appendText(number(blobSize, 0), blobLZ4, strings.Repeat("0", 29))), 0, "cannot be inflated to the 0 bytes"},
		{"a header that is no protobuf", rawBlock(headerType, []byte{0xff}), 0, "header: "},
	}
}

// faultyBlocks returns files with a valid header.
func faultyBlocks(t *testing.T) []faultCase {
	start := len(fileHeader())
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	bomb := func(encoding Encoding, claimed uint64) []byte {
		w := &Writer{options: WriterOptions{Encoding: encoding}, zstd: encoder}
		blob, err := w.encodeBlob(zeros)
		if err != nil {
			t.Fatal(err)
		}
		// The last of two sizes counts.
		return slices.Concat(fileHeader(), block(dataType, appendNumber(blob, blobSize, claimed)))
	}
	stored := func(fields ...[]byte) []byte {
		return slices.Concat(fileHeader(), block(dataType, slices.Concat(fields...)))
	}
	good := extract{Node{ID: 1, Tags: Tags{{"a", "b"}}}, Way{ID: 2}}.write(t, WriterOptions{})
	cases := []faultCase{
		{"inflates to less than claimed", bomb(Zstd, 2<<20), start, "inflates to 1048576 bytes and claims 2097152"},
		{"inflates to more than claimed, zstd", bomb(Zstd, 1000), start, "cannot be inflated to the 1000 bytes"},
		{"inflates to more than claimed, LZ4", bomb(LZ4, 1000), start, "cannot be inflated to the 1000 bytes"},
		{"claims more than the format allows", bomb(LZ4, 1<<32), start, "claims to inflate to 4294967296 bytes"},
		{"claims less than nothing", bomb(LZ4, math.MaxUint64), start, "at most 33554432"},
		{"damaged zlib", stored(number(blobSize, 10), appendText(nil, blobZlib, "garbage")), start, "cannot be inflated"},
		{"damaged LZ4", stored(number(blobSize, 10), appendText(nil, blobLZ4, "garbage")), start, "cannot be inflated"},
		{"compressed without a size", stored(appendText(nil, blobZlib, "x")), start, "does not say to how many"},
		{"raw of another size", stored(number(blobSize, 10), appendText(nil, blobRaw, "x")), start, "holds 1 bytes and claims 10"},
		{"lzma", stored(number(blobSize, 10), appendText(nil, blobLZMA, "x")), start, "lzma"},
		{"bzip2", stored(number(blobSize, 10), appendText(nil, blobBzip2, "x")), start, "bzip2"},
		{"unknown compression", stored(number(blobSize, 10), appendText(nil, 9<<3|asBytes, "x")), start, "0 times"},
		{"two bodies", stored(appendText(nil, blobRaw, ""), appendText(nil, blobRaw, "")), start, "2 times"},
		{"a second header with history", slices.Concat(fileHeader(), fileHeader("HistoricalInformation")), start, "history"},
		{"a good block, then garbage", slices.Concat(good, []byte("garbage")), len(good), "not PBF, or damaged"},
	}
	return append(cases, faultyMessages(start)...)
}

// faultyMessages returns files whose block can be inflated.
func faultyMessages(start int) []faultCase {
	id, tooLong := number(objectID, 2), bytes.Repeat([]byte{0xff}, 11)
	position := slices.Concat(number(nodeLat, 0), number(nodeLng, 0))
	many := make([]uint64, maxItems+1)
	cases := []faultCase{
		{name: "no protobuf", data: fileWith([]byte{0xff, 0xff}), want: "a field is longer"},
		{name: "a field that is too long", data: fileWith([]byte{byte(pbGroup), 100, 1}), want: "a field is longer"},
		{name: "field 0", data: fileWith([]byte{0, 0}), want: "a field without a number"},
		{name: "granularity 0", data: fileWith(number(pbStep, 0)), want: "a granularity of 0"},
		{name: "negative granularity", data: fileWith(number(pbStep, math.MaxUint64)), want: "a granularity of -1"},
		{name: "two string tables", data: fileWith(table("a"), table("b")), want: "two string tables"},
		{name: "fewer latitudes", data: fileWith(group(groupDense, array(1, 2, 2), array(8, 0), array(9, 0, 0))), want: "not equally long"},
		{name: "more longitudes", data: fileWith(group(groupDense, array(1, 2), array(8, 0), array(9, 0, 0))), want: "not equally long"},
		{name: "positions only", data: fileWith(group(groupDense, array(8, 0), array(9, 0))), want: "not equally long"},
		{name: "tags of fewer nodes", data: fileWith(table("", "a"), group(groupDense, array(1, 2, 2), array(8, 0, 0), array(9, 0, 0), array(10, 1, 1, 0))), want: "node 2: the array of tags ends early"},
		{name: "tags of more nodes", data: fileWith(group(groupDense, array(1, 2), array(8, 0), array(9, 0), array(10, 0, 0))), want: "tags of more nodes"},
		{name: "a key without a value", data: fileWith(table("", "a"), group(groupDense, array(1, 2), array(8, 0), array(9, 0), array(10, 1))), want: "ends with a key"},
		{name: "a string that is not there", data: fileWith(table("", "a"), group(groupDense, array(1, 2), array(8, 0), array(9, 0), array(10, 1, 2, 0))), want: "node 1: string 2 of a table of 2"},
		{name: "an array in two pieces", data: fileWith(group(groupDense, array(1, 2), array(1, 2))), want: "not in one piece"},
		{name: "an array element by element", data: fileWith(group(groupWay, id, number(8<<3|asVarint, 2))), want: "not in one piece"},
		{name: "an overlong id", data: fileWith(group(groupDense, appendBytes(nil, 1<<3|asBytes, tooLong), array(8, 0), array(9, 0))), want: "more than 64 bits"},
		{name: "an overlong reference", data: fileWith(group(groupWay, id, appendBytes(nil, 8<<3|asBytes, tooLong))), want: "way 2: nodes"},
		{name: "a node without an id", data: fileWith(group(groupNode, position)), want: "a node: no id"},
		{name: "a node without a position", data: fileWith(group(groupNode, id, number(nodeLat, 0))), want: "node 1: no position"},
		{name: "a way without an id", data: fileWith(group(groupWay)), want: "a way: no id"},
		{name: "more keys than values", data: fileWith(table("", "a"), group(groupWay, id, array(2, 1, 1), array(3, 1))), want: "way 2: the arrays of keys and values"},
		{name: "a way's string", data: fileWith(group(groupWay, id, array(2, 0), array(3, 0))), want: "way 2: string 0 of a table of 0"},
		{name: "a way of very many nodes", data: fileWith(group(groupWay, id, array(8, many...))), want: "more than 262144 nodes"},
		{name: "very many tags", data: fileWith(table(""), group(groupWay, id, array(2, many...), array(3, many...))), want: "more than 262144 tags"},
		{name: "very many members", data: fileWith(table(""), group(groupRelation, id, array(8, many...), array(9, many...), array(10, many...))), want: "members: more than 262144"},
		{name: "fewer roles", data: fileWith(table(""), group(groupRelation, id, array(8, 0), array(9, 1, 1), array(10, 0, 0))), want: "relation 2: members: the arrays"},
		{name: "a role that is not there", data: fileWith(table(""), group(groupRelation, id, array(8, 1), array(9, 1), array(10, 0))), want: "string 1 of a table of 1"},
		{name: "a type that is not there", data: fileWith(table(""), group(groupRelation, id, array(8, 0), array(9, 1), array(10, 3))), want: "of type 3"},
		{name: "very many strings", data: fileWith(table(make([]string, maxStrings+1)...), group(groupWay, id)), want: "more than 2097152 strings"},
	}
	for i := range cases {
		cases[i].at = start
	}
	return cases
}

func TestFaultsAreNamed(t *testing.T) {
	for _, tt := range slices.Concat(foreignFiles(), faultyBlocks(t)) {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(bytes.NewReader(tt.data), int64(len(tt.data)))
			for range 2 { // a failed scan must not have learned anything
				if f == nil {
					break
				}
				_, err = readAll(t.Context(), f, Options{})
				if err == nil {
					t.Fatal("it was read")
				}
			}
			fault := wantFault(t, err, len(tt.data))
			if tt.at >= 0 && fault.Offset != int64(tt.at) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want byte %d and %q", err, tt.at, tt.want)
			}
		})
	}
}

// TestCutAnywhere checks that a truncated file is refused at the block whose end is missing, wherever that is.
func TestCutAnywhere(t *testing.T) {
	data := extract{Node{ID: 1, Tags: Tags{{"a", "b"}}}, Way{ID: 2}}.write(t, WriterOptions{})
	f := openBytes(t, data)
	if _, err := readAll(t.Context(), f, Options{}); err != nil {
		t.Fatal(err)
	}
	begin := 0
	starts := []int64{0}
	for _, e := range *f.known.Load() {
		starts = append(starts, e.offset)
	}
	for n := 1; n < len(data); n++ {
		if slices.Contains(starts, int64(n)) {
			begin = n
			continue // a cut between blocks cannot be detected
		}
		cut, err := Open(bytes.NewReader(data[:n]), int64(n))
		if err == nil {
			_, err = readAll(t.Context(), cut, Options{})
		}
		if fault := wantFault(t, err, n); fault.Offset != int64(begin) || !strings.Contains(err.Error(), "ends within") {
			t.Fatalf("cut at byte %d: %v, want byte %d", n, err, begin)
		}
	}
}

// TestWhatIsNotAFault checks files that the format allows and this package's writer does not produce.
func TestWhatIsNotAFault(t *testing.T) {
	id, far := number(objectID, 2), protowire.EncodeZigZag(math.MaxInt64)
	near := protowire.EncodeZigZag(math.MinInt64)
	tests := []struct {
		name string
		data []byte
		want extract
	}{
		{"no objects", fileHeader(), nil},
		{"a block of an unknown type", slices.Concat(fileHeader(), block("Other", []byte{0xff}), fileWith()[len(fileHeader()):]), nil},
		{"unknown fields, also of types that are not used any more", fileWith(group(groupWay, id, number(100<<3|asVarint, 1), []byte{13<<3 | 5, 1, 2, 3, 4}, []byte{14<<3 | 3, 14<<3 | 4})), extract{Way{ID: 2}}},
		{"the string table at the end", fileWith(group(groupWay, id, array(2, 0), array(3, 1)), table("a", "b")), extract{Way{ID: 2, Tags: Tags{{"a", "b"}}}}},
		{"several types in one group", fileWith(appendBytes(nil, pbGroup, slices.Concat(appendBytes(nil, groupWay, id), appendBytes(nil, groupRelation, id)))), extract{Way{ID: 2}, Relation{ID: 2}}},
		{"a position beyond all numbers", fileWith(group(groupDense, array(1, 2), array(8, far), array(9, near))), extract{Node{ID: 1, Lat: math.MaxInt64, Lng: math.MinInt64}}},
		{"an offset beyond all numbers", fileWith(number(pbLatOffset, math.MaxInt64), number(pbLngOffset, 1<<63), number(pbStep, 1), group(groupDense, array(1, 2), array(8, 2), array(9, 1))), extract{Node{ID: 1, Lat: math.MaxInt64, Lng: math.MinInt64}}},
		{"a changeset", fileWith(group(5<<3|asBytes, id)), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(t.Context(), openBytes(t, tt.data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "read", tt.want, got)
		})
	}
}
