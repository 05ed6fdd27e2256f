package xmldoc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/xmldoc"
)

// item reads the first element named i of a document.
func item(r *xmldoc.Reader) (xmldoc.Node, error) {
	for {
		name, err := r.Next()
		if err != nil {
			return xmldoc.Node{}, err
		}
		if name == "i" {
			return r.Element()
		}
	}
}

// TestTextBetweenChildrenIsHeldOnce checks the memory of an element whose own text is divided by many children with text. The text was once
// copied for each of them: 40 000 took 6.3 GB.
func TestTextBetweenChildrenIsHeldOnce(t *testing.T) {
	for _, n := range []int{5000, 40_000} {
		doc := "<a><i>" + strings.Repeat("x<b>y</b>", n) + "</i></a>"
		budget := format.NewBudget(t.Context(), format.MaxWork)
		r := xmldoc.New(strings.NewReader(doc), budget)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		node, err := item(r)
		if err != nil {
			t.Fatal(err)
		}
		text := node.Text()
		runtime.ReadMemStats(&after)
		if want := strings.TrimSpace(strings.Repeat("x ", n)); text != want {
			t.Errorf("%d characters of text, want %d", len(text), len(want))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(100*len(doc))+1<<20 {
			t.Errorf("%d bytes of XML took %d MiB", len(doc), took>>20)
		}
	}
}

// TestItemsOfTooMuch checks that an item is refused before it holds 32 MiB, because attributes take ten times as much in memory as in the
// text.
func TestItemsOfTooMuch(t *testing.T) {
	attrs := "<b"
	for i := range 1000 {
		attrs += fmt.Sprintf(` a%d=""`, i)
	}
	attrs += "/>"
	for n, want := range map[int]format.Fault{400: "", 900: format.TooLarge} { // of some 55 KB each
		budget := format.NewBudget(t.Context(), format.MaxWork)
		_, err := item(xmldoc.New(strings.NewReader("<a>\n<i>"+strings.Repeat(attrs, n)+"</i></a>"), budget))
		var bad *format.Error
		if errors.As(err, &bad); err != nil && (bad == nil || bad.Fault != want || bad.Line != 2) || err == nil && want != "" {
			t.Errorf("%d elements: %v, want %q", n, err, want)
		}
		if _, held := budget.Spent(); held > 33<<20 {
			t.Errorf("%d MiB are held", held>>20)
		}
	}
}

// TestDocumentOfAttributesIsRefused checks that the largest document that is read of a feed is refused if it consists of attributes: it
// was accepted, and took 14 s of processor.
func TestDocumentOfAttributesIsRefused(t *testing.T) {
	const largest = 256 << 20
	for _, each := range []int{10, 30, 100, 1000} {
		attrs := "<b"
		for i := range each {
			attrs += fmt.Sprintf(` a%d=""`, i)
		}
		doc := "<a>" + strings.Repeat(attrs+"/>", 20_000/each) + "</a>"
		budget := format.NewBudget(t.Context(), format.MaxWork)
		r := xmldoc.New(strings.NewReader(doc), budget)
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if work, _ := budget.Spent(); work*largest/int64(len(doc)) <= format.MaxWork {
			t.Errorf("%d bytes with %d attributes in each tag count as %d ns", len(doc), each, work)
		}
	}
}

// TestReadingEndsWithItsContext checks that reading ends when the context ends within an item.
func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	text := &endsWithin{at: 1 << 20, do: cancel}
	_, err := item(xmldoc.New(text, format.NewBudget(ctx, format.MaxWork)))
	if !errors.Is(err, context.Canceled) || text.read > 3<<19 {
		t.Errorf("%v after %d bytes", err, text.read)
	}
}

// endsWithin is an endless item. It calls a function after the given number of bytes was read.
type endsWithin struct {
	read, at int
	do       func()
}

func (e *endsWithin) Read(p []byte) (int, error) {
	const head, middle = "<a><i>", "<b>text</b> "
	if e.read == 0 {
		e.read = copy(p, head)
		return e.read, nil
	}
	n := 0
	for n+len(middle) <= len(p) {
		n += copy(p[n:], middle)
	}
	if e.read < e.at && e.read+n >= e.at {
		e.do()
	}
	e.read += n
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	return n, nil
}
