package region

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/tilemaker"
)

// TilesProduct is the name of the base map among the products.
const TilesProduct = "tiles"

// tilesSection holds the base map: a PMTiles archive.
const tilesSection = "tiles"

// makeTiles makes the base map of the extracts.
func makeTiles(ctx context.Context, s *source) ([]content, error) {
	archive, counts, err := tilemaker.Make(ctx, s.files, tilemaker.Options{Name: "Wayside", Attribution: s.about.Attribution})
	if errors.Is(err, tilemaker.ErrEmpty) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for reason, n := range counts.LeftOut {
		s.leave(reason, n)
	}
	return []content{{section: tilesSection, data: archive}}, nil
}

// openTiles opens the base map of a mapped file, or returns nil if it was left out. Its tag is the version of the data,
// so that browsers and readers of the archive can detect a change.
func openTiles(m *mapping, about *About) (*basemap.Archive, error) {
	section := m.section(tilesSection)
	if section == nil {
		return nil, nil
	}
	archive, err := basemap.OpenMapped(section, about.DataVersion)
	if err != nil {
		return nil, fmt.Errorf("section %q: the base map %w: %w", tilesSection, err, ErrFormat)
	}
	return archive, nil
}

// Has reports whether the file contains a product.
func (a *About) Has(product string) bool {
	return slices.ContainsFunc(a.Products, func(p ProductSize) bool { return p.Name == product })
}
