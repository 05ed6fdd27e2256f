package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/votes"
	"wayside/internal/entities/wire"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/pull"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/mail"
	"wayside/internal/run/datadir"
	"wayside/internal/store/replica"
)

// openStore opens the store, the use cases over it that commands have too, and the sender of the e-mails that these use cases
// queue.
func (s *Service) openStore(ctx context.Context) (err error) {
	s.Admin, err = openAdmin(ctx, AdminOptions{Config: s.config, Log: s.log, Now: s.now}, s.signals)
	if err != nil {
		return err
	}
	s.sender, err = mail.New(mail.Config{
		Outbox: s.Store, Now: s.now, Log: s.log, BaseURL: s.config.BaseURL, From: s.config.Mail.From, SMTPURL: s.config.Mail.SMTPURL,
		Folder: filepath.Join(s.config.DataDir, datadir.OutboxFolder), Observe: s.metrics.Email, Queued: s.signals.MailQueued,
	})
	return err
}

// openProjections makes the projections of the store in memory, and the replica that keeps them up to date.
func (s *Service) openProjections(context.Context) error {
	s.index = index.Projection{Index: index.New(wire.EncodeEntity), Now: s.now}
	s.catalog, s.tallies, s.presence = catalog.New(s.index.Counts), votes.NewTallies(s.now), votes.NewPresence(s.now)
	s.reportsEnabled = make(chan bool)
	options := replica.Options{
		Now: s.now, Log: s.log,
		StoreChanged: s.signals.StoreChanged, Moved: s.signals.Moved, MailQueued: s.signals.MailQueued,
		AppsChanged: s.signals.AppsChanged,
	}
	if s.options.Progress != nil {
		options.Progress, s.loadEnded = s.options.Progress()
	}
	s.replica = replica.New(s.Store, []replica.Projection{s.index, s.catalog, s.tallies}, options)
	return s.registerGauges()
}

// openProviders makes the three ways for providers' data: pull, push and relay. They notify streams of changes.
func (s *Service) openProviders(context.Context) (err error) {
	if s.fetcher, err = NewFetcher(s.config, s.options.Version); err != nil {
		return err
	}
	s.Apps.Look = lookAt(s.fetcher, &s.Apps.Rules)
	first, err := s.openGeneration(s.config)
	if err != nil {
		return err
	}
	s.generation.Store(first)
	s.index.SetLaw(first.law)
	s.caches.exchange(s)
	s.streams = stream.New(stream.Config{Now: s.now, Moved: s.signals.Moved, Locate: s.locate})
	s.Apps.Tell = s.streams.AppsChanged
	s.Takedowns.Live = findLive(s.locate)
	if err := s.makeSpool(); err != nil {
		return err
	}
	if err := s.nameNode(); err != nil {
		return err
	}
	s.ingester = ingest.New(s.Store, s.now, s.signals.StoreChanged)
	s.ingester.Limits = storageLimits(&s.config.Limits)
	s.checker = trial.NewChecker(s.fetcher, s.spool, s.now)
	s.checker.Memory = s.memory.checks
	s.poller = pull.New(pull.Options{
		Large: s.checker.Large(),
		Store: s.Store, Ingest: s.ingester, Web: s.fetcher, Now: s.now, Log: s.log, Node: s.node + rand.Text(), Spool: s.spool,
		Unseal:  s.unseal,
		FeedDue: s.signals.FeedDue, StoreChanged: s.signals.StoreChanged, MailQueued: s.signals.MailQueued,
		Observe: func(outcome mapdata.Outcome, _ time.Duration) { s.metrics.Poll(string(outcome)) },
		ObserveSkips: func(format string, skips []mapdata.Skip) {
			for i := range skips {
				s.metrics.SkippedItems(format, skips[i].Reason, skips[i].Items)
			}
		},
	})
	s.pushes = push.New(push.Config{
		Store: s.Store, Ingest: s.ingester, Buckets: s.caches.buckets, Now: s.now, Log: s.log,
		Requests: s.config.Limits.PushesPerMinute, Entities: s.config.Limits.PushEntitiesPerMinute,
		StoreChanged: s.signals.StoreChanged, Observe: s.metrics.PushRows, Published: s.published(),
		Memory: s.memory.pushes, Work: s.work,
	})
	s.Feeds.Published, s.Takedowns.Published = s.published(), s.published()
	return nil
}

// newReaders makes the use cases of drivers: reading and voting.
func (s *Service) newReaders(e *generation) (*nearby.Reader, *votes.Service) {
	reads := nearby.Config{
		Index: s.index, Catalog: s.catalog, Primary: s.config.Chargers.PrimaryNetwork, Now: s.now,
		Tallies: s.tallies, Publications: s.replica, Records: s.Store, Encode: wire.EncodeEntity,
	}
	ballots := votes.Config{
		Store: s.Store, Feeds: s.catalog, Now: s.now, StoreChanged: s.signals.StoreChanged,
		TrustAfter: s.config.Votes.TrustAfter, ReportsTrust: e.config.Drivers.TrustAfter,
		Presence: s.presence,
	}
	if e.incidents != nil {
		reads.Live, ballots.Live = e.incidents.relay, e.incidents.relay
	}
	reads.Law = e.law
	return nearby.New(reads), votes.New(ballots)
}

// unseal returns a pull feed's auth header in clear text; empty: it has none.
func (s *Service) unseal(f *mapdata.Feed) (string, error) {
	if f.PullAuthSealed == nil {
		return "", nil
	}
	header, err := s.box.Open(f.PullAuthSealed, f.ID)
	return string(header), err
}

// makeSpool makes an empty folder for the bodies of polls: a process that was killed may have left some.
func (s *Service) makeSpool() error {
	s.spool = filepath.Join(s.config.DataDir, datadir.SpoolFolder)
	if err := errors.Join(os.RemoveAll(s.spool), os.Mkdir(s.spool, 0o700)); err != nil {
		return fmt.Errorf("make a folder for the bodies of polls: %w", err)
	}
	return nil
}

// registerGauges registers the metrics of the index and the store.
func (s *Service) registerGauges() error {
	return errors.Join(
		s.metrics.Gauge("wayside_index_entities", "Entities in the index.", func() float64 { return float64(s.index.Len()) }),
		s.metrics.Gauge("wayside_request_bytes", "Bytes that requests hold: bodies that are read, and answers that are made or written.", func() float64 {
			now, _ := s.memory.all.Held()
			return float64(now)
		}),
		s.metrics.Gauge("wayside_push_bytes", "Bytes that bodies of pushes hold while they are read and stored.", func() float64 { return float64(s.pushes.HeldBytes()) }),
		s.metrics.Gauge("wayside_stored_bytes", "External ids and properties that all feeds store.", s.storedBytes),
		s.metrics.Gauge("wayside_fullest_feed_ratio", "How full the feed is that is nearest to a bound of its own; 1: new rows are rejected.", s.fullestFeed),
		s.metrics.Gauge("wayside_streams", "Streams that are open.", func() float64 { return float64(s.streams.Len()) }),
		s.metrics.Gauge("wayside_connections", "Connections that are open at the public address.", func() float64 { return float64(s.public.Connections()) }),
		s.metrics.Counter("wayside_connections_crowded_total", "Connections refused or closed because too many were open, since the start.", func() float64 { return float64(s.public.Crowded()) }),
		s.metrics.Counter("wayside_follow_entities_total", "Changed entities applied to the index since the start.", func() float64 { return float64(s.replica.Followed()) }),
		s.metrics.Gauge("wayside_index_revision", "Revision that readers see.", func() float64 { return float64(s.replica.Revision()) }),
		s.metrics.Gauge("wayside_store_revision", "Revision of the store; -1: it does not answer.", func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
			defer cancel()
			state, err := s.Store.State(ctx)
			if err != nil {
				return -1
			}
			return float64(state.Revision)
		}),
	)
}

// findLive finds live incidents of the current generation, for takedowns.
type findLive func(ctx context.Context, externalID string) (mapdata.Voted, error)

// Find returns a live incident.
func (f findLive) Find(ctx context.Context, externalID string) (mapdata.Voted, error) {
	return f(ctx, externalID)
}
