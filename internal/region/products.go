package region

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
)

// product is something beside roads that an import makes of extracts, in sections of its own. A region without it serves everything
// else.
type product struct {
	name    string // as ImportOptions.Without takes it
	step    string // as progress is reported
	version int    // to be raised when the same extracts give other bytes than before, so that the region gets another ID
	roads   bool   // it is made of the graph too; the others have none, so that an import needs less memory for them
	// make returns the product's sections. They are written before the next product is made, so that no two are in memory together.
	make func(ctx context.Context, s *source) ([]content, error)
}

// products are all that an import makes beside roads, in the order in which they are made: first those that need the graph.
func products() []product {
	return []product{
		{"cameras", "finding cameras", 1, true, makeCameras},
		{"search", "indexing places and addresses", 1, true, makeSearch},
		{"chargers", "finding chargers", 1, false, makeChargers},
		{TilesProduct, "drawing the map", 1, false, makeTiles},
	}
}

// roadsProduct is the name of what every region has. It cannot be left out.
const roadsProduct = "roads"

// content is what a section is to hold: bytes in memory or, where these would be too many, something that writes them. What it writes
// may come from a file of source.scratch.
type content struct {
	section string
	data    []byte
	from    io.WriterTo // nil: data
}

// source is what products are made of. A product reads the extracts itself, in as many passes as it needs.
type source struct {
	files  []*osmpbf.File
	graph  *graph.Graph // of the roads, complete; nil for products that need none
	index  *match.Index // of its pieces
	about  *About       // for the product's own counts
	folder Folder

	scratches []*os.File
}

// leave counts something that a product leaves out.
func (s *source) leave(reason string, n int) {
	if n > 0 {
		s.about.LeftOut[reason] += n
	}
}

// scratch is a temporary file on the disk of the region. It is removed once the product's sections are written.
func (s *source) scratch() (*os.File, error) {
	f, err := os.CreateTemp(string(s.folder), importing+"*")
	if err == nil {
		s.scratches = append(s.scratches, f)
	}
	return f, err
}

func (s *source) removeScratches() (err error) {
	for _, f := range s.scratches {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	s.scratches = nil
	return err
}

// ProductNames are the products that can be left out.
func ProductNames() []string {
	var names []string
	for _, p := range products() {
		names = append(names, p.name)
	}
	return names
}

// StepNames are the steps of an import that leaves nothing out, as progress names them.
func StepNames() []string {
	before, after := []string{readingStep, roadsStep}, []string{routerStep}
	for _, p := range products() {
		if p.roads {
			before = append(before, p.step)
		} else {
			after = append(after, p.step)
		}
	}
	return slices.Concat(before, after, []string{closingStep})
}

// CheckProducts refuses names of products that do not exist.
func CheckProducts(names []string) error {
	known := ProductNames()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no product %q: those that can be left out are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// chosen are the products that are not left out.
func (i *importer) chosen() []product {
	return slices.DeleteFunc(products(), func(p product) bool { return slices.Contains(i.Without, p.name) })
}

// makeProducts makes the chosen products that need the graph, or those that do not.
func (i *importer) makeProducts(ctx context.Context, s *source, roads bool) error {
	for _, p := range i.chosen() {
		if p.roads != roads {
			continue
		}
		if err := i.step(p.step, func() error { return i.makeProduct(ctx, i.out, s, p) }); err != nil {
			return err
		}
	}
	return nil
}

// makeProduct makes a product and writes its sections.
func (i *importer) makeProduct(ctx context.Context, w *writer, s *source, p product) (err error) {
	defer func() { err = errors.Join(err, s.removeScratches()) }()
	sections, err := p.make(ctx, s)
	if err != nil {
		return i.blame(ctx, err)
	}
	return w.add(ctx, p.name, sections)
}
