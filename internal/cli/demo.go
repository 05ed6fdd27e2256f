package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"wayside/internal/config"
	"wayside/internal/demo"
	"wayside/internal/feed"
	"wayside/internal/httpapi"
	"wayside/internal/mapdata"
	"wayside/internal/telemetry"
)

// demoCmd is wayside demo.
type demoCmd struct {
	Listen string `name:"listen" placeholder:"HOST:PORT" help:"Public address; without it 127.0.0.1:8080, or a free port when that is taken."`
}

// Run runs the service with the town in it, until the process is asked to stop.
func (c *demoCmd) Run(p *program) (err error) {
	dir, err := os.MkdirTemp("", "wayside-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	town := demo.NewTown()
	publisher, err := demo.NewPublisher(town, p.now())
	if err != nil {
		return err
	}
	relay, err := newTownRelay(p.ctx, dir)
	if err != nil {
		return err
	}
	s, err := c.serve(p, dir, publisher, relay)
	if err != nil {
		return err
	}
	if err := relay.start(); err != nil { // not before: nobody would end it if the service could not be opened
		return errors.Join(err, s.close())
	}
	d := &demonstration{program: p, server: s, town: town, publisher: publisher, relay: relay}
	p.printf("Wayside demo: building the town …\n")
	return s.run(p.ctx, job{"town", d.run}, job{"town's authority", publisher.Run}, job{"town's relay", relay.run})
}

// serve opens the service on a configuration of its own: nothing that the operator set for a real one applies.
func (c *demoCmd) serve(p *program, dir string, publisher *demo.Publisher, relay *townRelay) (*server, error) {
	ca := filepath.Join(dir, "town.pem")
	if err := os.WriteFile(ca, publisher.CA(), 0o600); err != nil {
		return nil, err
	}
	cfg := config.Default()
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.Egress = config.Egress{CAFile: ca, Hosts: map[string]netip.Addr{demo.Host: netip.AddrFrom4([4]byte{127, 0, 0, 1})}}
	cfg.Upstreams = []config.Upstream{relay.upstream()}
	cfg.Map.PMTiles = filepath.Join(dir, "town.pmtiles")
	if err := writeTown(cfg.Map.PMTiles); err != nil {
		return nil, err
	}
	drive, err := demo.DriveJSON()
	if err != nil {
		return nil, err
	}
	about := &httpapi.Demo{Drive: drive}
	cfg.Log.Level = "warn"
	if c.Listen != "" {
		cfg.HTTP.Listen = c.Listen
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	s, err := newServer(p, cfg, log, about)
	if c.Listen == "" && errors.Is(err, syscall.EADDRINUSE) {
		cfg.HTTP.Listen = "127.0.0.1:0"
		s, err = newServer(p, cfg, log, about)
	}
	return s, err
}

// writeTown writes the town's map to a file.
func writeTown(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(demo.WriteMap(f), f.Close())
}

// demonstration is the town's providers at work.
type demonstration struct {
	*program
	server    *server
	town      *demo.Town
	publisher *demo.Publisher
	relay     *townRelay
}

// run signs the town in, registers its feeds through the same doors as everybody's, has them approved, and drives it.
func (d *demonstration) run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.server.ready:
	}
	// A connection that was made and not used would hold up the end: the service waits a while for its first request.
	defer http.DefaultClient.CloseIdleConnections()
	client := demo.NewClient(d.server.config.BaseURL)
	push, err := d.settle(ctx, client)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop while the town was being built
		}
		return err
	}
	driven := make(chan error, 1)
	go func() {
		driven <- demo.Drive(ctx, d.town, client, push, d.relay.live(), func(err error) { d.server.log.Warn("the town cannot tell what happens", "error", err) })
	}()
	d.welcome(ctx)
	return <-driven
}

// demoCurator is who decides on what visitors publish: whoever reads the demo's letters.
const demoCurator = "curator@example.org"

// settle registers the two feeds and gives the push token.
func (d *demonstration) settle(ctx context.Context, client *demo.Client) (push string, err error) {
	const email = "town@example.org"
	if _, err := d.server.accounts.Create(ctx, email); err != nil {
		return "", err
	}
	if _, err := d.server.accounts.Create(ctx, demoCurator); err != nil {
		return "", err
	}
	if _, err := d.server.accounts.SetRole(ctx, demoCurator, mapdata.Curator); err != nil {
		return "", err
	}
	token, err := d.server.accounts.LoginLink(ctx, email)
	if err != nil {
		return "", err
	}
	if err := client.SignIn(ctx, token); err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	for _, fields := range d.feeds() {
		registered, err := client.Register(ctx, fields)
		if err != nil {
			return "", fmt.Errorf("register feed: %w", err)
		}
		id, _ := mapdata.ParseFeedID(registered.Feed.ID)
		if _, err := d.server.feeds.Approve(ctx, feed.Operator(), id, ""); err != nil {
			return "", fmt.Errorf("approve feed: %w", err)
		}
		if registered.PushToken != "" {
			push = registered.PushToken
		}
	}
	return push, nil
}

func (d *demonstration) feeds() []map[string]any {
	return []map[string]any{
		{
			"name": "Demo town", "description": "Cameras, chargers and road works of a town that is not there.",
			"direction": "pull", "visibility": "public", "attribution": "Demo town council", "licence": "CC-BY-4.0",
			"pull_url": d.publisher.URL(), "pull_interval_seconds": 30,
		},
		{
			"name": "Demo town live", "description": "What happens on its streets.",
			"direction": "push", "visibility": "public", "attribution": "Drivers of the demo town", "licence": "CC0-1.0",
		},
	}
}

// townIsThere is how long the welcome waits for the first poll (D6.1), and for the relay to have read what happens.
const townIsThere = 5 * time.Second

// welcome prints what to try, once there is something to see.
func (d *demonstration) welcome(ctx context.Context) {
	deadline := time.NewTimer(townIsThere)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting && (d.server.index.Len() < 20 || !d.relay.tells(ctx)); {
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			waiting = false
		case <-tick.C:
		}
	}
	base := d.server.config.BaseURL
	near := base + "/v2/entities/nearby?lat=52.0&lng=5.0&radius=3000"
	d.printf(`
The town is at 52.0, 5.0, and the service at %[1]s (the API is explained at %[1]s/docs).
Open the car's screen and drive through it:

  %[1]s/?drive=demo

Or try, in another shell:

  curl '%[2]s'
  curl '%[2]s&kinds=alert.police,traffic.jam'
  curl '%[1]s/v2/sources'

Police, accidents and jams come from a relay upstream, the process %[3]d. Stop it and see what becomes of them; start it again with

  %[4]s

To confirm or dispute what you see, pair the car's screen with a phone, or sign in at %[1]s/sign-in; letters are put into
%[5]s

To publish a feed of your own, register it at %[1]s/feeds; then sign in as %[6]s in another
browser or a private window, and approve it at %[1]s/review.
The town moves every two seconds. Ctrl-C ends it; nothing is kept.
`, base, near, d.relay.pid(), d.relay.command(), filepath.Join(d.server.config.DataDir, outboxFolder), demoCurator)
}
