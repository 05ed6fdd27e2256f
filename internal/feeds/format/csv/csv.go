// Package csv converts the lines of a table by a mapping (D17.34).
package csv

import (
	"errors"
	"io"
	"strconv"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/mapping"
)

// Convert reads a table; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	m, err := mapping.Checked(o.Mapping, true)
	if err != nil {
		return format.Summary{}, err
	}
	body, err := d.Open()
	if err != nil {
		return format.Summary{}, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	t := table{mapping: m, items: mapping.Converter{Mapping: m, Options: o}, yield: yield, lines: newReader(body, m.CSV, o.Budget)}
	if err := t.read(); err != nil {
		return format.Summary{}, err
	}
	return t.items.Summary, nil
}

type table struct {
	mapping *mapping.Mapping
	items   mapping.Converter
	yield   func(format.Item) error
	lines   *reader
	columns map[string]int
	cells   []string
}

func (t *table) read() error {
	if t.mapping.CSV.Header {
		if err := t.header(); err != nil {
			return err
		}
	}
	for {
		cells, err := t.lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.cells = cells
		if err := t.yield(t.items.Item(t.cell, t.place)); err != nil {
			return err
		}
	}
}

// header reads the names of columns. It refuses a table that lacks a column that every row needs.
func (t *table) header() error {
	cells, err := t.lines.next()
	if errors.Is(err, io.EOF) {
		return t.lines.fault(format.NotFormat)
	}
	if err != nil {
		return err
	}
	t.columns = make(map[string]int, len(cells))
	for i, name := range cells {
		name = format.Text(name)
		if _, twice := t.columns[name]; !twice {
			t.columns[name] = i
		}
	}
	for _, needed := range t.mapping.Required() {
		if _, has := t.columns[needed.Text]; !has {
			return t.lines.fault(format.NotFormat)
		}
	}
	return nil
}

// cell returns the cell of a column; it is a mapping.Lookup.
func (t *table) cell(p *mapping.Path) mapping.Scalar {
	i, has := t.columns[p.Text]
	if t.columns == nil {
		n, err := strconv.Atoi(p.Text) // columns without names are counted from 1
		i, has = n-1, err == nil && n > 0
	}
	if !has || i >= len(t.cells) || t.cells[i] == "" {
		return t.items.Counted(mapping.Scalar{})
	}
	return t.items.Counted(mapping.Scalar{Kind: '"', Text: t.cells[i]})
}

func (t *table) place(bool) geometry.Place {
	point, ok := t.mapping.Point(t.cell)
	if !ok {
		return geometry.Place{Skip: format.NoPosition}
	}
	return geometry.Place{Point: point}
}
