package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"wayside/internal/feeds/openfeeds"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/people/account"
	"wayside/internal/roads/basemap/world"
	"wayside/internal/run/config"
	"wayside/web"
)

// openAPI makes the API and the pages for people, and serves them at the public address.
func (s *Service) openAPI(ctx context.Context) (err error) {
	if s.passkeys, err = s.newPasskeys(); err != nil {
		return err
	}
	if s.world, err = world.Open(); err != nil {
		return err
	}
	if s.config.Apps.Enabled {
		if err := s.Apps.Load(ctx); err != nil {
			return fmt.Errorf("read the catalogue of apps: %w", err)
		}
	}
	if err := s.serve(s.generation.Load()); err != nil {
		return err
	}
	s.public.Handle(s.beforeAPI(&s.handler))
	if s.ops != nil {
		s.ops.Handle(s.opsHandler(&s.handler))
	}
	return nil
}

// serve makes the handler of a generation, which answers all later requests.
func (s *Service) serve(e *generation) (err error) {
	deps := public.Deps{
		BaseURL: s.config.BaseURL, TrustedProxies: s.config.HTTP.TrustedProxies, Hosts: s.hosts(), CORSOrigins: s.config.Read.CORSOrigins,
		Now: s.now, Log: s.log, Observe: s.metrics.Request, Ready: s.checkReady, Loaded: s.replica.Loaded,
		Sources: s.catalog, Accounts: s.Accounts, Feeds: s.Feeds, Pushes: s.pushes, Streams: s.streams,
		Audit: s.Audit, Takedowns: s.Takedowns,
		Limits: httpapi.Limits{
			GuestReads: e.config.Limits.GuestReadsPerMinute, AccountReads: e.config.Limits.AccountReadsPerMinute,
			GuestRoutes: e.config.Limits.GuestRoutesPerMinute, AccountRoutes: e.config.Limits.AccountRoutesPerMinute,
			Manage: e.config.Limits.ManagePerMinute, Votes: e.config.Limits.VotesPerMinute,
			Reports: e.config.Limits.ReportsPerMinute,
		},
		Buckets: s.caches.buckets, Memory: s.memory.ofAPI(), Work: s.work, Searches: s.searches,
		Version: s.options.Version, PrimaryNetwork: s.config.Chargers.PrimaryNetwork,
		BaseMap: s.baseMap(e), World: s.world.Archive, Places: s.world,
		Entities: s.countEntities, Passkeys: s.passkeys, Newest: &s.newest,
		Regions: s.regions.Region, Imports: s.imports,
		Deprecated: httpapi.Deprecated(), Revisions: s.replica, AwaitRoads: s.published().AwaitRoads,
	}
	if s.config.Navigation.Region != config.RegionOff {
		deps.Navigation, deps.Conditions, deps.Geocoder, deps.Speech = s.routes, s.roads.explain, s.geocoder, s.speaker
		if s.remote == nil {
			deps.Drives = s.drives
			if s.nodes != nil {
				deps.Nodes, deps.NodeRequests = s.nodes.links, s.nodes.links.Serve
			}
		}
	}
	if s.config.Navigation.Region != config.RegionOff || s.remote != nil {
		deps.Engine = s.engine
	}
	deps.Home = s.home(e)
	if s.options.DemoDrive != nil {
		deps.Demo = &httpapi.Demo{Drive: s.options.DemoDrive, Began: s.options.DemoBegan, Extent: s.options.DemoExtent}
	}
	if e.incidents != nil {
		deps.Incidents = e.incidents.about
	}
	deps.Nearby, deps.Votes = s.newReaders(e)
	s.reader.Store(deps.Nearby)
	deps.Reports = s.newReports(e, deps.Nearby, deps.Votes)
	if s.config.Apps.Enabled {
		deps.Apps = s.Apps
	}
	if deps.Overlay, err = web.Overlay(); err != nil {
		return fmt.Errorf("open the page for cars: %w", err)
	}
	if deps.Scripts, err = web.Console(); err != nil {
		return fmt.Errorf("open the scripts of the pages for people: %w", err)
	}
	if deps.Console, err = s.newConsole(e); err != nil {
		return err
	}
	s.handler.set(public.New(deps))
	return nil
}

// hosts returns the names, besides that of base_url, under which the public address may be called; nil: any name is allowed. In a
// private network only known names are allowed, because a foreign page can have its own name resolved to a private address.
func (s *Service) hosts() []string {
	tcp, ok := s.public.Addr().(*net.TCPAddr)
	private := ok && (tcp.IP.IsLoopback() || tcp.IP.IsPrivate() || tcp.IP.IsLinkLocalUnicast())
	if !private && len(s.config.HTTP.Hosts) == 0 {
		return nil
	}
	return append([]string{}, s.config.HTTP.Hosts...)
}

// opsHandler serves metrics, profiles and the probes at the operator's address, where strangers cannot crowd out the probes.
func (s *Service) opsHandler(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.metrics.Handler())
	mux.Handle("GET /healthz", api)
	mux.Handle("GET /readyz", api)
	return mux
}

// newPasskeys makes the use case of passkeys. It fails if the configuration requires passkeys and browsers offer none for this
// address.
func (s *Service) newPasskeys() (*account.Passkeys, error) {
	passkeys, err := account.NewPasskeys(account.PasskeyConfig{Accounts: s.Accounts, Store: s.Store, BaseURL: s.config.BaseURL, ForDecisions: s.requiresPasskey()})
	if err != nil {
		return nil, err
	}
	if s.requiresPasskey() && !passkeys.Offered() {
		return nil, errors.New(`review.require is "passkey", but browsers offer no passkeys at base_url: that takes https:// and a name, or http://localhost`)
	}
	return passkeys, nil
}

func (s *Service) requiresPasskey() bool { return s.config.Review.Require == config.RequirePasskey }

// newConsole makes the pages for people.
func (s *Service) newConsole(e *generation) (*console.Console, error) {
	open, err := openfeeds.Load(s.config.Catalogue.File)
	if err != nil {
		return nil, err
	}
	pages := console.Config{
		BaseURL: s.config.BaseURL, Now: s.now, Log: s.log,
		Accounts: s.Accounts, Passkeys: s.passkeys, Feeds: s.Feeds,
		OpenFeeds: open, Check: s.checker, Secrets: s.box,
		Audit: s.Audit, Takedowns: s.Takedowns, Sources: s.catalog, State: s.reportState(), Entities: s.countEntities, Push: s.pushFromPage,
	}
	if s.config.Apps.Enabled {
		pages.Apps = s.Apps
	}
	pages.Privacy = console.Privacy(s.config.Privacy)
	if e.baseMap != nil {
		pages.MapOrigins = e.baseMap.Origins
	}
	if e.incidents != nil {
		pages.Incidents = &console.Incidents{Attribution: e.incidents.about.Attribution, Health: e.incidents.relay.Health}
	}
	pages.Regions = console.Regions{Served: s.regions.Region, Imports: s.imports}
	pages.Home = s.home(e)
	if s.config.Navigation.Region != config.RegionOff {
		pages.RoadEffects = s.roads.effectsOf
	}
	return console.New(pages)
}

// home returns the middle of the map that the service has when it starts or reads its configuration again; zero without a map.
func (s *Service) home(e *generation) geo.Point {
	m := s.baseMap(e)()
	if m == nil || m.Archive == nil {
		return geo.Point{}
	}
	center := m.Archive.Center()
	return geo.Point{Lat: center[1], Lng: center[0]}
}

// countEntities counts the entities of a feed.
func (s *Service) countEntities(id mapdata.FeedID) int {
	persistent, decaying := s.index.Counts(id)
	return persistent + decaying
}

// reportState returns the function that describes the state of this node to people.
func (s *Service) reportState() func() console.State {
	return func() console.State {
		state := console.State{Version: s.options.Version, Since: s.began, Ready: s.checkReady() == nil}
		if s.caches.conn != nil {
			state.Shared, state.Reached = true, s.caches.conn.Up()
		}
		s.reportRegion(&state)
		s.reportEngine(&state)
		return state
	}
}
