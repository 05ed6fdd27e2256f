package service

import (
	"wayside/internal/config"
	"wayside/internal/nearby"
	"wayside/internal/provider/drivers"
	"wayside/internal/votes"
)

// keepDrivers is the job that keeps the source of drivers' reports.
func (s *Service) keepDrivers() Job {
	keeper := &drivers.Keeper{
		Store: s.Store, Enabled: s.config.Drivers.Enabled, StoreChanged: s.signals.StoreChanged, Now: s.now, Log: s.log,
	}
	return Job{"source of drivers' reports", keeper.Run}
}

// newReports makes the use case of drivers' reports; nil: there are none.
func (s *Service) newReports(e *edition, reader *nearby.Reader, ballots *votes.Service) *drivers.Service {
	if !s.config.Drivers.Enabled {
		return nil
	}
	return drivers.New(drivers.Config{
		Store: s.Store, Ingest: s.ingester, Nearby: reader, Votes: ballots, Feeds: s.catalog, Revisions: s.replica,
		StoreChanged: s.signals.StoreChanged, Now: s.now,
		PerDay: e.config.Limits.ReportsPerDay, TrustAfter: s.config.Drivers.TrustAfter, NeedTwo: s.config.Drivers.Show == config.ShowConfirmed,
	})
}
