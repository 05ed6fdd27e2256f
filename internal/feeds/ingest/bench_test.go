package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// rowsOf returns n rows of about 230 bytes; every hundredth contains the version.
func rowsOf(n, version int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		v := 0
		if i%100 == 0 {
			v = version
		}
		fmt.Fprintf(&b, `{"external_id":"bench:%07d","kind":"camera.speed","lat":%d.123456,"lng":%d.654321,"properties":{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"note":"some more text that makes it longer","version":%d}}`,
			i, i%90, i%180, i%977, i%300, i%120, v)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	body := rowsOf(MaxBatchRows, 1)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeBatch(body, testNow); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*MaxBatchRows), "ns/row")
}

// fakeStore is a store that holds one snapshot and discards changes.
type fakeStore struct {
	mark   mapdata.Mark
	stored []mapdata.Stored
	last   *mapdata.Change
}

func (s *fakeStore) Mark(context.Context, mapdata.FeedID) (mapdata.Mark, error) { return s.mark, nil }

func (s *fakeStore) Stored(_ context.Context, _ mapdata.FeedID, _ []string, yield func(mapdata.Stored)) error {
	for _, st := range s.stored {
		yield(st)
	}
	return nil
}

func (s *fakeStore) Apply(_ context.Context, c *mapdata.Change) error {
	s.last = c
	return nil
}

func BenchmarkSnapshot(b *testing.B) {
	s := &fakeStore{}
	in := New(s, func() time.Time { return testNow }, signal.StoreChanged{})
	take := func(body []byte) {
		hash := sha256.Sum256(body)
		_, err := in.Snapshot(b.Context(), mapdata.FeedID{1}, Snapshot{
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }, Hash: hash[:], At: testNow,
			Finish: func(Result) (Record, error) { return Record{}, nil },
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	take(rowsOf(MaxSnapshotRows, 0))
	for _, e := range s.last.Upserts {
		s.stored = append(s.stored, mapdata.Stored{ExternalID: e.ExternalID, Digest: e.Digest, FirstSeenAt: testNow, ChangedAt: testNow})
	}
	s.mark = mapdata.Mark{Snapshot: 1, SnapshotAt: testNow, LastRows: MaxSnapshotRows}
	body := rowsOf(MaxSnapshotRows, 1)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		take(body)
	}
	if len(s.last.Upserts) != MaxSnapshotRows/100 {
		b.Errorf("%d rows written", len(s.last.Upserts))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*MaxSnapshotRows), "ns/row")
}

// BenchmarkUnchangedPoll measures 50 000 rows that are equal to the stored ones: those of a v1 body, of a bridge, and
// of a bridge with a line of 20 positions and an end for each.
func BenchmarkUnchangedPoll(b *testing.B) {
	const rows = 50_000
	body := rowsOf(rows, 0)
	var texts [][]byte
	for row := range bytes.SplitAfterSeq(bytes.TrimSuffix(body[1:], []byte("]")), []byte("}},")) {
		texts = append(texts, bytes.TrimSuffix(row, []byte(",")))
	}
	line := make([]geo.Point, 20)
	for i := range line {
		line[i] = geo.Point{Lat: 52 + float64(i)/1000, Lng: 4.5}
	}
	source := func(beside Beside) Source {
		return func(_ context.Context, yield func([]byte, Beside) error) (again time.Time, err error) {
			for _, text := range texts {
				if err := yield(text, beside); err != nil {
					return again, err
				}
			}
			return again, nil
		}
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	for name, s := range map[string]Snapshot{
		"v1": {Open: open}, "bridge": {Source: source(Beside{})}, "lines": {Source: source(Beside{Line: line, EndsAt: testNow.Add(time.Hour)})},
	} {
		b.Run(name, func(b *testing.B) {
			store := &fakeStore{}
			in := New(store, func() time.Time { return testNow }, signal.StoreChanged{})
			s.At, s.Finish = testNow, func(Result) (Record, error) { return Record{}, nil }
			poll := func() {
				if _, err := in.Snapshot(b.Context(), mapdata.FeedID{1}, s); err != nil {
					b.Fatal(err)
				}
			}
			poll()
			for _, e := range store.last.Upserts {
				store.stored = append(store.stored, mapdata.Stored{ExternalID: e.ExternalID, Digest: e.Digest, FirstSeenAt: testNow, ChangedAt: testNow, EndsAt: e.EndsAt})
			}
			store.mark = mapdata.Mark{Snapshot: 1, SnapshotAt: testNow, LastRows: rows}
			b.ReportAllocs()
			for b.Loop() {
				poll()
			}
			if len(store.stored) != rows || store.last.Moves() {
				b.Errorf("%d rows are stored; an unchanged poll writes: %v", len(store.stored), store.last.Moves())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
