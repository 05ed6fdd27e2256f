package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

// Goals of bridges.
const (
	grownSize   = 100 << 20 // bytes of a document
	xmlShare    = 50        // per cent of the bytes that a bare loop over encoding/xml tokens reads in a second
	jsonShare   = 40        // per cent of the bytes that a bare loop over jsontext tokens reads in a second
	bridgeAdded = 64 << 20  // bytes that converting adds to the process
)

// runBridges converts documents of each format that were grown to 100 MB, and compares it with a bare loop over the tokens of the
// same bytes.
func (b *bench) runBridges(ctx context.Context) error {
	for _, f := range bridge.Formats() {
		samples, err := b.samples(f)
		if err != nil {
			return err
		}
		for _, file := range samples {
			if err := errors.Join(ctx.Err(), b.bridgeOver(f, file)); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// samples returns the format's own documents, and the largest of those in the folder of real ones, if there is one.
func (b *bench) samples(f bridge.Format) ([]string, error) {
	patterns := []string{filepath.Join("internal", "feeds", "format", strings.ReplaceAll(f.Name, "-", ""), "testdata", "sample*")}
	if b.documents != "" {
		patterns = append(patterns, filepath.Join(b.documents, f.Name, "*"))
	}
	var largest []string
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		best, most := "", int64(0)
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			named := slices.Contains([]string{".json", ".geojson", ".xml"}, filepath.Ext(file)) && !strings.Contains(file, ".options.") && !strings.Contains(file, ".mapping.")
			if named && info.Size() > most {
				best, most = file, info.Size()
			}
		}
		if best != "" {
			largest = append(largest, best)
		}
	}
	return largest, nil
}

// bridgeOver measures one format with one document that is grown.
func (b *bench) bridgeOver(f bridge.Format, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	asXML := bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF"))), []byte("<"))
	begin, end, err := itemsOf(f, text, asXML)
	if err != nil {
		return err
	}
	options, err := sampleOptions(f)
	if err != nil {
		return err
	}
	var few bridge.Skips
	each := 0
	small := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	if _, err := f.Convert(small, options, &few, func(format.Item) error { each++; return nil }); err != nil {
		return err
	}
	step("growing " + file)
	grown := filepath.Join(b.dir, f.Name)
	size := grownSize
	if f.Name == "overpass" {
		size /= 4 // more would have more members of enforcement relations than the format accepts
	}
	size, err = grow(grown, text, begin, end, asXML, size, format.MaxItems/max(1, each+few.Total()))
	if err != nil {
		return err
	}
	defer os.Remove(grown) //nolint:errcheck // the whole folder is removed at the end
	bare, share := jsonTokens, jsonShare
	if asXML {
		bare, share = xmlTokens, xmlShare
	}
	document := format.Document{Open: bridge.Unpacked(func() (io.ReadCloser, error) { return os.Open(grown) })}
	var ratios, speeds []float64
	added, rows, items := uint64(0), 0, 0
	for range b.rounds {
		took, _, err := timed(func() error { return bare(grown) })
		if err != nil {
			return err
		}
		var skips bridge.Skips
		rows = 0
		own, more, err := timed(func() error {
			_, err := f.Convert(document, options, &skips, func(format.Item) error { rows++; return nil })
			return err
		})
		if err != nil {
			return err
		}
		added, items = max(added, more), rows+skips.Total()
		ratios = append(ratios, 100*took.Seconds()/own.Seconds())
		speeds = append(speeds, float64(size)/own.Seconds()/(1<<20))
	}
	ratio, name := median(ratios), f.Name+", "+filepath.Base(file)
	b.table.note(name+", items and rows", fmt.Sprintf("%d, of which rows %d, at %.0f MB/s", items, rows, median(speeds)))
	b.table.add(name+", speed beside a bare loop over tokens", fmt.Sprintf("≥ %d %%", share), fmt.Sprintf("%.0f %%", ratio), ratio >= float64(share))
	b.table.add(fmt.Sprintf("%s, memory that %d MB add", name, size>>20), "≤ 64 MiB", fmt.Sprintf("%.1f MiB", float64(added)/(1<<20)), added <= bridgeAdded)
	return nil
}

// sampleOptions returns the options beside the format's own sample.
func sampleOptions(f bridge.Format) (*format.Options, error) {
	text, err := os.ReadFile(filepath.Join("internal", "feeds", "format", strings.ReplaceAll(f.Name, "-", ""), "testdata", "sample.options.json"))
	if err != nil {
		return nil, err
	}
	var o struct {
		At       time.Time       `json:"at"`
		TimeZone string          `json:"time_zone"`
		Mapping  json.RawMessage `json:"mapping"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(o.TimeZone)
	return &format.Options{Now: o.At, Zone: zone, Mapping: o.Mapping}, err
}

// timed runs do and returns its processor time, which other programs do not change, and by how much the memory of the process grew
// at its peak.
func timed(do func() error) (took time.Duration, added uint64, err error) {
	runtime.GC()
	debug.FreeOSMemory()
	held := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64() - sample[1].Value.Uint64()
	}
	before := held()
	most, done, ended := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, held())
			}
		}
	}()
	began, err := ownProcessorTime()
	if err == nil {
		err = do()
	}
	until, wrong := ownProcessorTime()
	took, err = until-began, errors.Join(err, wrong)
	close(done)
	<-ended
	return took, most - before, err
}

// ownProcessorTime returns the processor time that this process has used so far.
func ownProcessorTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// jsonTokens reads the JSON tokens of a file in a bare loop.
func jsonTokens(file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	tokens := jsontext.NewDecoder(from)
	for err == nil {
		_, err = tokens.ReadToken()
	}
	return errors.Join(untilEnd(err), from.Close())
}

// xmlTokens reads the XML tokens of a file in a bare loop.
func xmlTokens(file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	tokens := xml.NewDecoder(from)
	for err == nil {
		_, err = tokens.Token()
	}
	return errors.Join(untilEnd(err), from.Close())
}

func untilEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// grow writes a document whose items are repeated until it is large enough, or the given number of times, and returns its size.
func grow(file string, text []byte, begin, end int, asXML bool, until, times int) (size int, err error) {
	to, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	items := append([]byte(","), text[begin:end]...)
	if asXML {
		items = items[1:]
	}
	at := 1 + (1<<20)/len(items) // repetitions in one write
	more := bytes.Repeat(items, at)
	_, err = to.Write(text[:end])
	size = len(text)
	for times--; size < until && times >= at && err == nil; times -= at {
		_, err = to.Write(more)
		size += len(more)
	}
	if err == nil {
		_, err = to.Write(text[end:])
	}
	return size, err
}

// itemsOf finds the items of a document: the elements of its longest array that is not within another one, or in XML the elements
// with the items' name.
func itemsOf(f bridge.Format, text []byte, asXML bool) (begin, end int, err error) {
	if asXML {
		begin, end, err = elements(text, elementOf[f.Name])
	} else {
		begin, end, err = longestArray(text)
	}
	if err == nil && begin == end {
		err = errors.New("no items in the sample")
	}
	return begin, end, err
}

func longestArray(text []byte) (begin, end int, err error) {
	tokens := jsontext.NewDecoder(bytes.NewReader(text))
	arrays, from := 0, 0
	for {
		token, err := tokens.ReadToken()
		if err != nil {
			return begin, end, untilEnd(err)
		}
		switch at := int(tokens.InputOffset()); token.Kind() {
		case '[':
			if arrays++; arrays == 1 {
				from = at
			}
		case ']':
			if arrays--; arrays == 0 && at-1-from > end-begin {
				begin, end = from, at-1
			}
		}
	}
}

// elementOf maps formats to the name of an item in XML.
var elementOf = map[string]string{
	"datex2": "situation", "datex2-energy": "energyInfrastructureSite", "open511": "event", "cifs": "incident", "traff": "message",
}

// elements finds the first element of a name, and where the last of its siblings ends.
func elements(text []byte, name string) (begin, end int, err error) {
	tokens := xml.NewDecoder(bytes.NewReader(text))
	depth, at := 0, 0 // depth of open elements, and of the items; 0: not found yet
	for {
		from := int(tokens.InputOffset())
		token, err := tokens.Token()
		if err != nil {
			return begin, end, untilEnd(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if at == 0 && t.Name.Local == name {
				begin, at = from, depth
			}
		case xml.EndElement:
			if depth == at {
				end = int(tokens.InputOffset())
			}
			if depth--; at > 0 && depth < at-1 {
				return begin, end, nil
			}
		}
	}
}
