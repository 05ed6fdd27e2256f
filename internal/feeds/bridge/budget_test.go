package bridge_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/ingest"
)

// cancelling is a text that cancels a context when it is read a second time.
type cancelling struct {
	text   *strings.Reader
	reads  int
	cancel context.CancelFunc
}

func (c *cancelling) Read(p []byte) (int, error) {
	if c.reads++; c.reads == 2 {
		c.cancel()
	}
	return c.text.Read(p)
}

func (c *cancelling) Close() error { return nil }

// TestConversionEndsWithItsContext checks for every format that a poll that is cancelled within an item ends there, in reading as well as
// in converting.
func TestConversionEndsWithItsContext(t *testing.T) {
	for name, f := range costs() {
		for i := range f.Forms {
			form := &f.Forms[i]
			known, _ := bridge.Lookup(name)
			ctx, cancel := context.WithCancel(t.Context())
			var last *cancelling
			c := bridge.Conversion{Format: known, Options: f.Options, Document: format.Document{Open: func() (io.ReadCloser, error) {
				last = &cancelling{text: strings.NewReader(form.Begin + form.Item(strings.Repeat("x", 4<<20), "") + form.End), cancel: cancel}
				return last, nil
			}}}
			c.Options.Now = time.Now()
			rows := 0
			_, err := c.Source(ctx, func([]byte, ingest.Beside) error { rows++; return nil })
			if !errors.Is(err, context.Canceled) || rows > 0 || last.text.Len() < 3<<20 {
				t.Errorf("%s, %s: %v, %d rows, %d bytes left unread", name, form.Name, err, rows, last.text.Len())
			}
			cancel()
		}
	}
}

// TestCostIsRefusedWithAPlace checks that a document that is refused for its cost is refused with a place, whatever part of it cost too
// much.
func TestCostIsRefusedWithAPlace(t *testing.T) {
	f, _ := bridge.Lookup("geojson")
	text := `{"features":[` + strings.Repeat(`{"id":"a","x":"x","geometry":`+pointOfItem+"},", 100_000) + "{}]}"
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	for want, o := range map[format.Fault]*format.Options{
		"":             {Mapping: []byte(anyMapping(""))},
		format.TooMany: {Mapping: []byte(manyPaths("")), Budget: format.NewBudget(t.Context(), format.MaxWork/4)},
	} {
		o.Now = time.Now()
		rows := 0
		_, err := f.Convert(d, o, new(bridge.Skips), func(format.Item) error { rows++; return nil })
		var bad *format.Error
		if errors.As(err, &bad); err != nil && (bad == nil || bad.Fault != want || bad.Byte == 0 || bad.Line > 0) || err == nil && want != "" {
			t.Errorf("%v after %d rows, want %q", err, rows, want)
		}
	}
}
