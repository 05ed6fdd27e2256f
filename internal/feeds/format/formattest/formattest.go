package formattest

import (
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
)

// Bounds of the contract.
const (
	doublings = 3   // doublings from the smaller to the larger document of a shape; they even out the steps by which arrays grow
	growth    = 2.2 // of work, of processor time and of bytes allocated, for each doubling

	bytesEach = 400 // allocated at most for each byte of a document, beside spareBytes
	spare     = 1 << 20

	// attempts is how often both documents are measured at most. The least time of each counts, so that a busy machine
	// fails no test.
	attempts = 8
	// uncounted is how many times longer than counted a document may take, because machines differ and other tests run
	// at the same time.
	uncounted = 6 * slower
	spareTime = 30 * time.Millisecond * slower
)

// Shape is one way to make a document large.
type Shape struct {
	Name     string
	N        int                   // how often something occurs in the smaller document
	Document func(n int) string    // returns a document in which it occurs n times
	Status   func(n int) string    // the second document; nil: there is none
	Options  func(*format.Options) // changes those of the format; nil: nothing
}

// Form is the syntax of a format's documents.
type Form struct {
	Name                string // XML, JSON or CSV
	Begin, Between, End string // around items
	// Item returns an item that becomes a row, with a text where the bridge reads one, and with inner content: members
	// of JSON that begin with a comma, elements of XML, or cells that begin with a delimiter.
	Item func(text, inner string) string
}

// Format is a format under test.
type Format struct {
	Convert format.Convert
	Options format.Options // without a budget
	Forms   []Form
	Own     []Shape // shapes of this format alone: lists of places, schedules, references
}

// Test runs the contract with all shapes of the format's forms, and with its own.
func Test(t *testing.T, f *Format) {
	t.Helper()
	shapes := f.Own
	for i := range f.Forms {
		shapes = append(shapes, f.Forms[i].shapes()...)
	}
	for i := range shapes {
		t.Run(shapes[i].Name, func(t *testing.T) { f.holds(t, &shapes[i]) })
	}
}

// cost is what the conversion of one document took.
type cost struct {
	size, items int
	took        time.Duration
	allocated   uint64
	work        int64
	err         error
}

// holds checks one shape against the contract.
func (f *Format) holds(t *testing.T, s *Shape) {
	t.Helper()
	small, large := f.cost(t, s, s.N), f.cost(t, s, s.N<<doublings)
	most := math.Pow(growth, doublings)
	for range attempts - 1 {
		if f.withinTime(&small, &large) {
			break
		}
		again, largeAgain := f.cost(t, s, s.N), f.cost(t, s, s.N<<doublings)
		small.took, large.took = min(small.took, again.took), min(large.took, largeAgain.took)
	}
	t.Logf("%d bytes: %v of %v counted, %d KiB, %d items, %v", small.size, small.took, time.Duration(small.work), small.allocated>>10, small.items, small.err)
	t.Logf("%d bytes: %v of %v counted, %d KiB, %d items, %v", large.size, large.took, time.Duration(large.work), large.allocated>>10, large.items, large.err)
	var bad *format.Error
	if small.err != nil || large.err != nil && (!errors.As(large.err, &bad) || !bad.Fault.Large()) {
		t.Errorf("%v, %v: not a document of the format, or the smaller one is too large already", small.err, large.err)
	}
	if grown := float64(large.work) / float64(small.work); grown > most {
		t.Errorf("work grows %.1f times for %d times the document, at most %.1f are linear", grown, 1<<doublings, most)
	}
	if float64(large.allocated) > most*float64(small.allocated)+spare {
		t.Errorf("bytes grow %.1f times for %d times the document, at most %.1f are linear", float64(large.allocated)/float64(small.allocated), 1<<doublings, most)
	}
	if !f.withinTime(&small, &large) {
		t.Errorf("%v become %v for %d times the document, of %v counted", small.took, large.took, 1<<doublings, time.Duration(large.work))
	}
	if large.allocated > uint64(bytesEach*large.size*slower+spare) { // with the race detector, pools forget at random
		t.Errorf("%d bytes of a document take %d MiB", large.size, large.allocated>>20)
	}
}

// withinTime reports whether the times grew no more than the documents, and match the counted work.
func (f *Format) withinTime(small, large *cost) bool {
	return float64(large.took) <= math.Pow(growth, doublings)*float64(small.took)+float64(spareTime) &&
		large.took <= uncounted*time.Duration(large.work)+spareTime
}

// cost converts one document and measures its cost.
func (f *Format) cost(t *testing.T, s *Shape, n int) cost {
	t.Helper()
	text := s.Document(n)
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	c := cost{size: len(text)}
	if s.Status != nil {
		status := s.Status(n)
		d.Status = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(status)), nil }
		c.size += len(status)
	}
	o := f.Options
	if s.Options != nil {
		s.Options(&o)
	}
	o.Budget = format.NewBudget(t.Context(), format.MaxWork)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime(t)
	_, c.err = f.Convert(d, &o, func(format.Item) error {
		c.items++
		return o.Budget.Err()
	})
	if c.err == nil {
		c.err = o.Budget.Err()
	}
	c.took = processorTime(t) - began
	runtime.ReadMemStats(&after)
	c.allocated = after.TotalAlloc - before.TotalAlloc
	c.work, _ = o.Budget.Spent()
	return c
}
