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

// product is something besides roads that an import makes from extracts, in its own sections. A region without it serves
// everything else.
type product struct {
	name    string // as in ImportOptions.Without
	step    string // as reported by Progress
	version int    // to be incremented when the same extracts give other bytes than before, so that the region gets another ID
	roads   bool   // made from the graph too; others run without it, so that the import needs less memory
	// make returns the product's sections. They are written before the next product is made, so that no two products are
	// in memory together.
	make func(ctx context.Context, s *source) ([]content, error)
}

// products returns everything that an import makes besides roads, in the order of making: first the products that need
// the graph.
func products() []product {
	return []product{
		{"cameras", "finding cameras", 1, true, makeCameras},
		{"search", "indexing places and addresses", 1, true, makeSearch},
		{"chargers", "finding chargers", 1, false, makeChargers},
		{TilesProduct, "drawing the map", 1, false, makeTiles},
	}
}

// roadsProduct is the name of the product that every region has. It cannot be left out.
const roadsProduct = "roads"

// content is the content of a section: bytes in memory or, if these would be too many, a source that writes them, for
// example from a file of source.scratch.
type content struct {
	section string
	data    []byte
	from    io.WriterTo // nil: use data
}

// source is the input of products. A product reads the extracts itself, in as many passes as it needs.
type source struct {
	files  []*osmpbf.File
	graph  *graph.Graph // of the roads, complete; nil for products that do not need it
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

// scratch creates a temporary file on the disk of the region. It is removed once the product's sections are written.
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

// ProductNames returns the names of the products that can be left out.
func ProductNames() []string {
	var names []string
	for _, p := range products() {
		names = append(names, p.name)
	}
	return names
}

// StepNames returns the steps of an import that leaves nothing out, as reported by Progress.
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

// chosen returns the products that are not left out.
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
