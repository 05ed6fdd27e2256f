package service

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/entities/law"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/run/config"
)

// reloaded lists the sections of the configuration that a reload applies.
var reloaded = []string{"limits", "upstreams", "law", "map", "drivers"}

// generation holds the parts that a reload replaces together: upstreams, law, map, limits and the rules of drivers' reports.
type generation struct {
	config    *config.Config
	law       *law.Law         // nil: none
	incidents *incidents       // nil: no upstream is configured
	baseMap   *httpapi.BaseMap // nil: no map is configured
	shared    bool             // the next generation has the same incidents
}

// openGeneration opens the files that the configuration names.
func (s *Service) openGeneration(cfg *config.Config) (_ *generation, err error) {
	e := &generation{config: cfg}
	if e.law, err = readLaw(cfg.Law.File); err != nil {
		return nil, err
	}
	if e.baseMap, err = openBaseMap(cfg.Map); err != nil {
		return nil, err
	}
	if now := s.generation.Load(); now != nil && reflect.DeepEqual(now.config.Upstreams, cfg.Upstreams) {
		e.incidents = now.incidents // keeps the health of upstreams and the calls under way
		return e, nil
	}
	if e.incidents, err = s.openIncidents(cfg); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// close closes everything that only this generation uses.
func (e *generation) close() error {
	if e.incidents != nil && !e.shared {
		e.incidents.web.Close()
	}
	if e.baseMap != nil && e.baseMap.Archive != nil {
		return e.baseMap.Archive.Close()
	}
	return nil
}

// switchHandler is a handler that can be replaced while it serves.
type switchHandler struct{ now atomic.Pointer[http.Handler] }

func (h *switchHandler) set(handler http.Handler) { h.now.Store(&handler) }

// ServeHTTP answers with the handler that is set when the request arrives.
func (h *switchHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*h.now.Load()).ServeHTTP(w, r)
}

// reloads reads the configuration again whenever Options.Reload delivers, until ctx ends.
func (s *Service) reloads(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.options.Reload:
			if err := s.reload(ctx); err != nil {
				s.log.Error("the configuration was not reloaded, and nothing is changed", "error", err)
			}
		}
	}
}

// reload replaces the current generation. Requests under way end with the generation with which they began; open streams continue
// with the new one. Keys of other sections keep their values from the start.
func (s *Service) reload(ctx context.Context) error {
	fresh, err := s.options.ReadConfig()
	if err != nil {
		return err
	}
	before := s.generation.Load()
	next := *before.config
	next.Limits, next.Upstreams, next.Law, next.Map = fresh.Limits, fresh.Upstreams, fresh.Law, fresh.Map
	next.Drivers = fresh.Drivers
	e, err := s.openGeneration(&next)
	if err != nil {
		return err
	}
	before.shared = e.incidents == before.incidents
	if err := s.serve(e); err != nil {
		before.shared = false
		e.shared = e.incidents == before.incidents
		return errors.Join(err, e.close())
	}
	s.pushes.SetLimits(next.Limits.PushesPerMinute, next.Limits.PushEntitiesPerMinute)
	s.Feeds.SetLimit(next.Limits.FeedsPerAccount)
	s.Feeds.SetStorage(storageLimits(&next.Limits))
	s.ingester.SetLimits(storageLimits(&next.Limits))
	s.generation.Store(e)
	s.index.SetLaw(e.law)
	if next.Drivers.Enabled != before.config.Drivers.Enabled {
		select {
		case s.reportsEnabled <- next.Drivers.Enabled:
		case <-ctx.Done():
		}
	}
	select {
	case s.replaced <- before:
	case <-ctx.Done(): // the job that closes it has ended, or soon will
		return before.close()
	}
	s.signals.Moved.Notify(mapdata.Touched{Everywhere: true}) // streams read again
	var rest []string
	for _, key := range config.Differences(s.options.Config, fresh) {
		if section, _, _ := strings.Cut(key, "."); !slices.Contains(reloaded, section) {
			rest = append(rest, key)
		}
	}
	s.log.Info("the configuration was reloaded: upstreams, law, map, limits and drivers' reports", "upstreams", len(next.Upstreams))
	if len(rest) > 0 {
		s.log.Warn("some keys that changed need a restart of the service", "keys", rest)
	}
	return nil
}

// drainTime is how long a replaced generation stays open for requests that began before: longer than a call of an upstream and than
// an answer may take.
const drainTime = 2 * time.Minute

// runGenerations runs the calls of upstreams, and closes replaced generations, until ctx ends.
func (s *Service) runGenerations(ctx context.Context) error {
	var running sync.WaitGroup
	failed := make(chan error, 1)
	stops := make(map[*incidents]context.CancelFunc)
	start := func(in *incidents) {
		if in == nil || stops[in] != nil {
			return
		}
		own, stop := context.WithCancel(ctx)
		stops[in] = stop
		running.Go(func() {
			if err := in.relay.Run(own); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	drain := func(e *generation) {
		if stop := stops[e.incidents]; stop != nil && !e.shared {
			stop()
			delete(stops, e.incidents)
		}
		if err := e.close(); err != nil {
			s.log.Warn("a replaced map cannot be closed", "error", err)
		}
	}
	var draining []*generation
	var first error
	drained := time.NewTimer(0)
	defer drained.Stop()
	start(s.generation.Load().incidents)
	for ctx.Err() == nil && first == nil {
		select {
		case <-ctx.Done():
		case first = <-failed:
		case before := <-s.replaced:
			start(s.generation.Load().incidents)
			draining = append(draining, before)
			drained.Reset(drainTime)
		case <-drained.C:
			for _, e := range draining {
				drain(e)
			}
			draining = nil
		}
	}
	for _, stop := range stops {
		stop()
	}
	running.Wait()
	for _, e := range draining {
		drain(e)
	}
	return first
}

// locate finds a live incident of the current generation's upstreams.
func (s *Service) locate(ctx context.Context, externalID string) (mapdata.Voted, error) {
	if in := s.generation.Load().incidents; in != nil {
		return in.relay.Find(ctx, externalID)
	}
	return mapdata.Voted{}, mapdata.ErrNotFound
}
