// Package geojson converts the features of a GeoJSON collection by a mapping (D17.34).
package geojson

import (
	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/mapping"
)

// Convert reads a GeoJSON collection; it implements format.Convert.
func Convert(d format.Document, o *format.Options, yield func(format.Item) error) (format.Summary, error) {
	m, err := mapping.Checked(o.Mapping, false)
	if err != nil {
		return format.Summary{}, err
	}
	c := converter{items: mapping.Converter{Mapping: m, Options: o}, yield: yield}
	if err := jsondoc.Read(d, o.Budget, c.document); err != nil {
		return format.Summary{}, err
	}
	return c.items.Summary, nil
}

type converter struct {
	r     *jsondoc.Reader
	items mapping.Converter
	yield func(format.Item) error
}

func (c *converter) document(r *jsondoc.Reader) error {
	c.r = r
	found := false
	err := r.Members(func(name string) error {
		if name != "features" {
			return r.Skip()
		}
		found = true
		return r.Elements(c.feature)
	})
	if err == nil && !found {
		return r.Error(format.NotFormat)
	}
	return err
}

func (c *converter) feature() error {
	v, err := c.r.Value()
	if err != nil {
		return err
	}
	if v.Kind() != '{' {
		return c.yield(format.Item{Skip: format.NotAnItem})
	}
	item := c.items.Item(
		func(p *mapping.Path) mapping.Scalar { return c.items.Counted(mapping.ScalarOf(p.In(v))) },
		func(both bool) geometry.Place { return geometry.GeoJSON(v.Get("geometry"), both) },
	)
	if item.Skip == format.Area || item.Skip == format.NoPosition {
		item.Word = v.Get("geometry", "type").Text()
	}
	return c.yield(item)
}
