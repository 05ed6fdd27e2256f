package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/feeds/provider/osm"
	"wayside/internal/http/console"
	"wayside/internal/nodes/cluster"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/region"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// openRegion opens the region from which routes are served, so that it is open before the service is ready. A region that cannot be
// read does not keep the service from starting.
func (s *Service) openRegion(ctx context.Context) error {
	choice := s.config.Navigation.Region
	if choice == config.RegionOff {
		choice = region.Off
	}
	s.roads = &roads{
		moved: s.signals.Moved, reader: s.reader.Load, locate: s.locate, now: s.now, log: s.log,
		next: make(chan *region.Region, 1), ready: make(chan struct{}),
	}
	// Made before anything learns of a region, because a region calls it. It runs once there is an ingester.
	s.osm = osm.New(osm.Options{Store: s.Store, Region: func() *region.Region { return s.regions.Region() }, StoreChanged: s.signals.StoreChanged, Now: s.now, Log: s.log})
	s.regions = region.Open(ctx, region.CurrentOptions{
		Folder: region.Folder(filepath.Join(s.config.DataDir, datadir.RegionFolder)), Choice: choice, Now: s.now, Log: s.log,
		Changed: s.roads.change, Served: s.osm.Changed,
	})
	s.routes = nav.New(s.roads.network)
	s.searches = s.newSearches()
	if err := errors.Join(s.openDrives(ctx), s.openEngine()); err != nil {
		return err
	}
	if s.regions.Region() == nil {
		s.roads.markReady() // there are no conditions to wait for
	}
	jobs := []Job{{"region", s.regions.Run}, {"conditions", after(s.loaded, s.roads.run)}}
	jobs = append(jobs, Job{"cameras and chargers", s.afterReady(func(ctx context.Context) error { s.osm.Ingest = s.ingester; return s.osm.Run(ctx) })})
	if s.caches.conn != nil {
		s.versions = cluster.NewVersions(cluster.VersionsConfig{Cache: s.caches.conn, Own: s.dataVersion, Now: s.now, Log: s.log})
		s.osm.Newest = func() string { return s.versions.Greatest(region.CompareVersions) }
		jobs = append(jobs, Job{"other nodes' regions", s.versions.Run})
	}
	s.caches.jobs = append(jobs, s.caches.jobs...)
	if err := errors.Join(s.openImports(), s.openSpeech()); err != nil {
		return err
	}
	s.caches.jobs = append(s.caches.jobs, Job{"imports of regions", s.imports.Run})
	return s.registerRegion()
}

// dataVersion returns the version of the current region's data; empty: there is no region.
func (s *Service) dataVersion() string {
	if r := s.regions.Region(); r != nil {
		return r.DataVersion
	}
	return ""
}

// geocoder returns the place search of the current region, and its attribution; nil: there is no region.
func (s *Service) geocoder() (*geocode.Index, string) {
	if r := s.regions.Region(); r != nil {
		return r.Search, r.Attribution
	}
	return nil, ""
}

// registerRegion registers the metrics of the region.
func (s *Service) registerRegion() error {
	of := func(value func(r *region.Region) float64) func() float64 {
		return func() float64 {
			if r := s.regions.Region(); r != nil {
				return value(r)
			}
			return 0
		}
	}
	err := errors.Join(
		s.metrics.Gauge("wayside_region_up", "Whether routes are served from a region: 1 or 0.", of(func(*region.Region) float64 { return 1 })),
		s.metrics.Gauge("wayside_region_refused", "Whether the region that should be served cannot be: 1 or 0.", func() float64 { return toGauge(s.regions.Problem() != nil) }),
		s.metrics.Gauge("wayside_region_arcs", "Arcs of the region.", of(func(r *region.Region) float64 { return float64(r.Arcs) })),
		s.metrics.Gauge("wayside_region_bytes", "Bytes of the region's file, which is mapped into memory.", of(func(r *region.Region) float64 { return float64(r.Bytes) })),
		s.metrics.Gauge("wayside_region_imported_timestamp_seconds", "When the region was imported.", of(func(r *region.Region) float64 { return unix(r.Imported) })),
		s.metrics.Gauge("wayside_region_data_timestamp_seconds", "Of when the region's data are; 0: its extract does not say.", of(func(r *region.Region) float64 { return unix(r.AsOf) })),
		s.metrics.Info("wayside_region_info", "The region that is served: always 1; bounds are west, south, east and north.", []string{"region", "data_version", "bounds"}, func() []string {
			r := s.regions.Region()
			if r == nil {
				return nil
			}
			return []string{r.ID, r.DataVersion, boundsText(r.Bounds)}
		}),
	)
	if err == nil && s.versions != nil {
		err = s.metrics.Gauge("wayside_region_nodes_differ", "Whether another node serves another region: 1 or 0.", func() float64 { return toGauge(s.versions.Differ()) })
	}
	return err
}

func unix(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

// boundsText writes a box with four places, which is some ten metres.
func boundsText(b [4]float64) string {
	texts := make([]string, len(b))
	for i, degrees := range b {
		texts[i] = strconv.FormatFloat(degrees, 'f', 4, 64)
	}
	return strings.Join(texts, ",")
}

// describeRegion names the region for the line at the start.
func (s *Service) describeRegion() string {
	switch r := s.regions.Region(); {
	case r != nil:
		return r.ID + " (" + r.DataVersion + ")"
	case s.regions.Problem() != nil:
		return "refused"
	}
	return "none"
}

// reportRegion adds the public description of the region to the state of this node.
func (s *Service) reportRegion(state *console.State) {
	if r := s.regions.Region(); r != nil {
		state.Region = &console.Region{
			ID: r.ID, DataVersion: r.DataVersion, AsOf: r.AsOf, Imported: r.Imported, Attribution: r.Attribution, OpenStreetMap: r.Attribution == region.Attribution,
			Bounds: fmt.Sprintf("%.3f, %.3f – %.3f, %.3f", r.Bounds[1], r.Bounds[0], r.Bounds[3], r.Bounds[2]), // in the order of people: latitude, longitude
		}
	}
	if p := s.regions.Problem(); p != nil {
		state.RegionProblem = string(p.Reason)
	}
	state.RegionsDiffer = s.versions != nil && s.versions.Differ()
}

// RegionAge describes the region that a service with this configuration would serve, for doctor; nil: none is configured or imported.
type RegionAge struct {
	ID       string
	Imported time.Time
	AsOf     time.Time // zero: the extract does not say
	HasMap   bool      // the base map was not left out
}

// CheckRegion verifies the region that a service with this configuration would serve, and describes it; nil: there is none.
func CheckRegion(ctx context.Context, cfg *config.Config) (*RegionAge, error) {
	path := cfg.Navigation.Region
	switch path {
	case config.RegionOff:
		return nil, nil
	case "":
		folder := region.Folder(filepath.Join(cfg.DataDir, datadir.RegionFolder))
		id, err := folder.Current()
		if err != nil || id == "" {
			return nil, err
		}
		path = folder.Path(id)
	}
	shown, err := region.Show(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &RegionAge{ID: shown.ID, Imported: shown.Imported, AsOf: shown.About.AsOf, HasMap: shown.About.Has(region.TilesProduct)}, nil
}
