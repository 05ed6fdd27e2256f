//go:build !race

package pull

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
)

// The promise of D6.6.
const (
	hostileProviders = 64
	hostileBody      = 60 << 20 // of the first two of each shape; the others send a sixth: all of them three times the bound
	fullBodies       = 2
	hostileMemory    = 300 << 20
	hostileGarbage   = 25 // percent of the heap: the smallest GC setting, so that the heap contains little garbage
)

// hostileBodies are the shapes that cost a careless reader the most, with the number of providers that send each: few
// send those that take long to read, because large bodies are read one after the other anyway.
var hostileBodies = []struct {
	name  string
	count int
	want  mapdata.Outcome
	write func(w *bufio.Writer, size int)
}{
	{"many rows", 2, mapdata.OutcomeOK, func(w *bufio.Writer, size int) {
		fmt.Fprint(w, "[null")
		street := strings.Repeat("x", 220)
		for n := 0; n < size-1000; {
			wrote, _ := fmt.Fprintf(w, `,{"external_id":"%d","kind":"alert.construction","lat":52.37,"lng":4.9,"properties":{"street":"%s"}}`, n, street)
			n += wrote
		}
		fmt.Fprint(w, "]")
	}},
	{"large rows", 2, mapdata.OutcomeOK, func(w *bufio.Writer, size int) {
		row := `{"external_id":"a","kind":"alert.construction","lat":52.37,"lng":4.9,"properties":{},"x":"` + strings.Repeat("x", 15<<20) + `"}`
		fmt.Fprint(w, "["+row+strings.Repeat(","+row, size/len(row)-1)+"]")
	}},
	{"one row", 31, mapdata.OutcomeOK, func(w *bufio.Writer, size int) {
		fmt.Fprint(w, `[{"external_id":"`+strings.Repeat("x", size)+`"}]`)
	}},
	{"white space", 29, mapdata.OutcomeOK, func(w *bufio.Writer, size int) {
		fmt.Fprint(w, "["+strings.Repeat(" ", size)+"]")
	}},
}

// TestHostileProvidersMemory checks that 64 concurrent hostile providers cost at most 300 MiB (D6.6), by the peak of
// the Go heap beyond its size before.
func TestHostileProvidersMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("64 providers of 60 MiB each take a while: not with -short")
	}
	w, schedule := newTestService(t), newMemory(t)
	begin := make(chan struct{})
	var begun sync.WaitGroup
	begun.Add(hostileProviders)
	want := make(map[mapdata.Outcome]int)
	for _, shape := range hostileBodies {
		// The measurement does not include files.
		full, sixth := filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "sixth")
		writeBody(t, full, hostileBody, shape.write)
		if shape.count > fullBodies {
			writeBody(t, sixth, hostileBody/6, shape.write)
		}
		want[shape.want] += shape.count
		for i := range shape.count {
			file := full
			if i >= fullBodies {
				file = sixth
			}
			url := w.provider(fmt.Sprintf("h%d-%s", i, strings.ReplaceAll(shape.name, " ", "-")), func(rw http.ResponseWriter, _ *http.Request) {
				body, err := os.Open(file)
				if err != nil {
					t.Error(err)
					return
				}
				defer body.Close()
				_, _ = io.CopyN(rw, body, 1000)
				_ = http.NewResponseController(rw).Flush()
				begun.Done()
				<-begin
				_, _ = io.Copy(rw, body)
			})
			schedule.feeds[schedule.add("h", time.Hour)].PullURL = url
		}
	}
	p := w.poller(func(o *safehttp.Options) { o.Timeout, o.MaxBody = 10*time.Minute, 0 })
	p.Store, p.Ingest = schedule, recorded{ingest.New(nothingStored{}, time.Now, signal.StoreChanged{}), schedule}
	// Garbage is collected soon, also on a machine under load, so that live memory is measured.
	defer debug.SetGCPercent(debug.SetGCPercent(hostileGarbage))
	runtime.GC()
	before := heap()
	peak, stopWatching := watchHeap()
	stop := run(t, p)
	begun.Wait()
	close(begin) // all providers have started
	outcomes := make(map[mapdata.Outcome]int)
	for range hostileProviders {
		outcomes[<-w.polls]++
	}
	stopWatching()
	stop()
	t.Logf("%d MiB at the peak", (*peak-before)>>20)
	if *peak-before > hostileMemory {
		t.Errorf("%d MiB at the peak, more than %d", (*peak-before)>>20, hostileMemory>>20)
	}
	if !maps.Equal(outcomes, want) {
		t.Errorf("outcomes %v, want %v", outcomes, want)
	}
}

func writeBody(t *testing.T, file string, size int, write func(w *bufio.Writer, size int)) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	write(w, size)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// heap returns the size of the heap, including garbage and reserved spans.
func heap() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	total := uint64(0)
	for _, s := range samples {
		total += s.Value.Uint64()
	}
	return total
}

func watchHeap() (peak *uint64, stop func()) {
	peak = new(uint64)
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			*peak = max(*peak, heap())
			<-tick.C
		}
	})
	return peak, func() {
		cancel()
		watching.Wait()
	}
}

// nothingStored is an empty store that discards everything, so that only the path to the store is measured. The test
// uses only the outcome of each poll.
type nothingStored struct{}

func (nothingStored) Mark(context.Context, mapdata.FeedID) (mapdata.Mark, error) {
	return mapdata.Mark{}, nil
}

func (nothingStored) Stored(context.Context, mapdata.FeedID, []string, func(mapdata.Stored)) error {
	return nil
}

func (nothingStored) Apply(context.Context, *mapdata.Change) error { return nil }

// recorded stores the schedule of the polls that nothingStored accepts.
type recorded struct {
	*ingest.Ingester
	schedule *memory
}

func (r recorded) Snapshot(ctx context.Context, feed mapdata.FeedID, s ingest.Snapshot) (ingest.Report, error) {
	report, err := r.Ingester.Snapshot(ctx, feed, s)
	if err == nil {
		r.schedule.mu.Lock()
		defer r.schedule.mu.Unlock()
		f := r.schedule.feeds[feed]
		f.Polling.NextFetchAt, f.until = time.Now().Add(time.Hour), time.Time{}
	}
	return report, err
}
