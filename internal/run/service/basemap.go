package service

import (
	"fmt"
	"net/url"

	"wayside/internal/http/httpapi"
	"wayside/internal/roads/basemap"
	"wayside/internal/roads/region"
	"wayside/internal/run/config"
)

// ownStyleURL is the URL of the style of a map that the service serves.
const ownStyleURL = "/map/style.json"

// openBaseMap opens the configured map; nil: none is.
func openBaseMap(cfg config.Map) (*httpapi.BaseMap, error) {
	switch {
	case cfg.StyleURL != "":
		u, err := url.Parse(cfg.StyleURL)
		if err != nil {
			return nil, fmt.Errorf("map.style_url: %w", err)
		}
		return &httpapi.BaseMap{
			StyleURL: cfg.StyleURL, Attribution: cfg.Attribution, Origins: []string{u.Scheme + "://" + u.Host},
		}, nil
	case cfg.PMTiles != "":
		archive, err := basemap.Open(cfg.PMTiles)
		if err != nil {
			return nil, fmt.Errorf("map.pmtiles: %s %w", cfg.PMTiles, err)
		}
		about := &httpapi.BaseMap{Archive: archive, StyleURL: ownStyleURL, Attribution: cfg.Attribution}
		if about.Attribution == "" {
			about.Attribution = archive.Attribution()
		}
		return about, nil
	}
	return nil, nil
}

// CheckMap returns why the service could not open the configured map; nil if there is none.
func CheckMap(cfg config.Map) error {
	m, err := openBaseMap(cfg)
	if err != nil || m == nil || m.Archive == nil {
		return err
	}
	return m.Archive.Close()
}

// baseMap returns a function for the map of a generation: the configured one, or else that of the current region.
func (s *Service) baseMap(e *generation) func() *httpapi.BaseMap {
	if e.baseMap != nil {
		return func() *httpapi.BaseMap { return e.baseMap }
	}
	return func() *httpapi.BaseMap {
		r := s.regions.Region()
		if r == nil || r.Tiles == nil {
			return nil
		}
		about := &httpapi.BaseMap{Archive: r.Tiles, StyleURL: ownStyleURL, Attribution: r.Attribution}
		if r.Attribution == region.Attribution {
			about.AttributionURL = region.AttributionURL
		}
		return about
	}
}
