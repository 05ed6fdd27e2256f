package service

import (
	"fmt"
	"net/url"

	"wayside/internal/basemap"
	"wayside/internal/config"
	"wayside/internal/httpapi"
)

// ownStyleURL is the URL of the style of a map that the service serves itself.
const ownStyleURL = "/map/style.json"

// openBaseMap opens the configured map. The archive is nil without a file of our own, and everything is without a map.
func openBaseMap(cfg config.Map) (*basemap.Archive, *httpapi.BaseMap, error) {
	switch {
	case cfg.StyleURL != "":
		u, err := url.Parse(cfg.StyleURL)
		if err != nil {
			return nil, nil, fmt.Errorf("map.style_url: %w", err)
		}
		return nil, &httpapi.BaseMap{
			StyleURL: cfg.StyleURL, Attribution: cfg.Attribution, Origins: []string{u.Scheme + "://" + u.Host},
		}, nil
	case cfg.PMTiles != "":
		archive, err := basemap.Open(cfg.PMTiles)
		if err != nil {
			return nil, nil, fmt.Errorf("map.pmtiles: %s %w", cfg.PMTiles, err)
		}
		about := &httpapi.BaseMap{StyleURL: ownStyleURL, Attribution: cfg.Attribution}
		if about.Attribution == "" {
			about.Attribution = archive.Attribution()
		}
		return archive, about, nil
	}
	return nil, nil, nil
}

// CheckMap returns why the service could not open the configured map; nil if there is none.
func CheckMap(cfg config.Map) error {
	archive, _, err := openBaseMap(cfg)
	if err != nil || archive == nil {
		return err
	}
	return archive.Close()
}
