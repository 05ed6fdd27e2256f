package service

import (
	"net/url"
	"strings"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/run/config"
)

// keepDrivers returns the job that keeps the source of drivers' reports.
func (s *Service) keepDrivers() Job { return Job{"source of drivers' reports", s.keeper().Run} }

// keeper returns the keeper of that source, as it is configured at the start.
func (s *Service) keeper() *drivers.Keeper {
	return &drivers.Keeper{
		Store: s.Store, Enabled: s.config.Drivers.Enabled, Changes: s.reportsEnabled, Attribution: s.reportsAttribution(),
		StoreChanged: s.signals.StoreChanged, Now: s.now, Log: s.log,
	}
}

// reportsAttribution returns the attribution of drivers' reports: the operator's name, which the configuration has before the
// postal address, or else the host of base_url.
func (s *Service) reportsAttribution() string {
	name, _, _ := strings.Cut(s.config.Privacy.Operator, "\n")
	name, _, _ = strings.Cut(name, ",")
	if name = strings.TrimSpace(name); name != "" {
		return name
	}
	if u, err := url.Parse(s.config.BaseURL); err == nil {
		return u.Hostname()
	}
	return ""
}

// newReports makes the use case of drivers' reports; nil: they are not enabled.
func (s *Service) newReports(e *generation, reader *nearby.Reader, ballots *votes.Service) *drivers.Service {
	if !e.config.Drivers.Enabled {
		return nil
	}
	return drivers.New(drivers.Config{
		Store: s.Store, Ingest: s.ingester, Nearby: reader, Votes: ballots, Feeds: s.catalog, Revisions: s.replica,
		StoreChanged: s.signals.StoreChanged, Now: s.now, Street: s.routes.StreetAt,
		PerDay: e.config.Limits.ReportsPerDay, TrustAfter: e.config.Drivers.TrustAfter, NeedTwo: e.config.Drivers.Show == config.ShowConfirmed,
	})
}
