package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/telemetry"
	"wayside/internal/roads/region"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
	"wayside/internal/run/demo"
	"wayside/internal/run/service"
)

// demoCmd is wayside demo.
type demoCmd struct {
	Listen string `name:"listen" xor:"address" placeholder:"HOST:PORT" help:"Public address (default 127.0.0.1:8080, or a free port if that is in use)."`
	LAN    bool   `name:"lan" xor:"address" help:"Listen for other devices in your network too, and print the address for a phone."`
	Region string `name:"region" placeholder:"FILE.osm.pbf" help:"Routes along the roads of an OpenStreetMap extract instead of the town's. The map opens there; the providers and their pins stay in their town at 52.0, 5.0."`
}

// Run runs the service with the demo town in it, until the process is asked to stop.
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
	relay, err := newDemoRelay(p.ctx, dir)
	if err != nil {
		return err
	}
	cfg, err := c.configure(p.ctx, dir, publisher, relay)
	if err != nil {
		return err
	}
	apps, err := c.newDemoApps(p.ctx, cfg)
	if err != nil {
		return err
	}
	roads, err := c.importRoads(p, dir, cfg.DataDir)
	if err != nil {
		return err
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	s, err := c.open(p, cfg, log, roads, town)
	if err != nil {
		return err
	}
	if err := relay.start(); err != nil { // not before, because only Run of the relay ends it, and Run needs an open service
		return errors.Join(err, s.Close())
	}
	d := &demoRun{
		program: p, log: log, service: s, outbox: filepath.Join(cfg.DataDir, datadir.OutboxFolder),
		base: s.URL(), welcomed: make(chan struct{}), town: town, publisher: publisher, relay: relay, apps: apps,
		region: roads, real: c.Region != "",
	}
	if c.LAN {
		d.base, d.lan = cfg.BaseURL, true
	}
	p.printf("Wayside demo: building the town …\n")
	return s.Run(p.ctx,
		service.Job{Name: "demo town", Run: d.run},
		service.Job{Name: "demo e-mails", Run: d.printEmails},
		service.Job{Name: "demo publisher", Run: publisher.Run},
		service.Job{Name: "demo relay", Run: relay.run},
		service.Job{Name: "demo apps", Run: d.runApps},
	)
}

// configure returns the demo's configuration. It ignores the operator's settings for a real service.
func (c *demoCmd) configure(ctx context.Context, dir string, publisher *demo.Publisher, relay *demoRelay) (*config.Config, error) {
	ca := filepath.Join(dir, "town.pem")
	if err := os.WriteFile(ca, publisher.CA(), 0o600); err != nil {
		return nil, err
	}
	cfg, err := c.address(ctx)
	if err != nil {
		return nil, err
	}
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.Egress = config.Egress{CAFile: ca, Hosts: map[string]netip.Addr{demo.Host: netip.AddrFrom4([4]byte{127, 0, 0, 1})}}
	cfg.Upstreams = []config.Upstream{relay.upstream()}
	// The proxy of a tunnel, through which others see the demo, runs on this machine: each of them has the limits of a guest.
	cfg.HTTP.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	cfg.Votes.TrustAfter = 0 // a visitor of the demo signed in a minute ago
	cfg.Apps.Enabled = true
	cfg.Log.Level = "warn"
	return cfg, nil
}

// address returns the configuration with only the address set. With --lan, links contain the address of this machine in its
// network.
func (c *demoCmd) address(ctx context.Context) (*config.Config, error) {
	flags := make(map[string]config.Flag)
	if c.Listen != "" {
		flags["http.listen"] = config.Flag{Name: "--listen", Value: c.Listen}
	}
	if c.LAN {
		addr, err := lanAddress(ctx)
		if err != nil {
			return nil, err
		}
		listen, err := freeLANPort(ctx)
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(listen)
		if err != nil {
			return nil, err
		}
		flags["http.listen"] = config.Flag{Name: "--lan", Value: listen}
		flags["base_url"] = config.Flag{Name: "--lan", Value: "http://" + net.JoinHostPort(addr.String(), port)}
	}
	cfg, err := config.Load(config.Input{Flags: flags})
	if err != nil {
		return nil, fmt.Errorf("%w%w", errUsage, err)
	}
	return cfg, nil
}

// freeLANPort returns port 8080 of all addresses, or another one if that is in use.
func freeLANPort(ctx context.Context) (string, error) {
	for _, listen := range [...]string{"0.0.0.0:8080", "0.0.0.0:0"} {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return listener.Addr().String(), listener.Close()
	}
	return "", errors.New("no port is free")
}

// open opens the service, at a free port if no address was given and the default one is in use.
func (c *demoCmd) open(p *program, cfg *config.Config, log *slog.Logger, roads *region.Imported, town *demo.Town) (*service.Service, error) {
	drive, err := demo.DriveJSON(c.Region == "")
	if err != nil {
		return nil, err
	}
	play := func(o *service.Options) {
		o.DemoDrive = drive
		o.DemoBegan = func(speedUp float64) { town.Guide(p.now(), speedUp) }
		if c.Region != "" {
			b := roads.Bounds
			o.DemoExtent = &geo.Box{West: b[0], South: b[1], East: b[2], North: b[3]}
		}
	}
	s, err := openService(p, cfg, log, play)
	if c.Listen == "" && !c.LAN && errors.Is(err, syscall.EADDRINUSE) {
		cfg.HTTP.Listen = "127.0.0.1:0"
		s, err = openService(p, cfg, log, play)
	}
	return s, err
}

// demoRun operates the demo's providers on a running service.
type demoRun struct {
	*program
	log       *slog.Logger
	service   *service.Service
	outbox    string        // folder of e-mails
	base      string        // URL in the printed texts
	lan       bool          // other devices can open it
	welcomed  chan struct{} // closed once the welcome is printed
	town      *demo.Town
	publisher *demo.Publisher
	relay     *demoRelay
	apps      *demo.Apps // nil: there are none
	region    *region.Imported
	real      bool // the region is not that of the town
}

// run signs the demo's owner in, registers the feeds through the API, approves them, and simulates the town.
func (d *demoRun) run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.service.Ready():
	}
	// An unused connection would delay the stop, because the service waits for its first request.
	defer http.DefaultClient.CloseIdleConnections()
	client := demo.NewClient(d.service.URL())
	push, err := d.register(ctx, client)
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop while the town was being built
		}
		return err
	}
	driven := make(chan error, 1)
	go func() {
		driven <- demo.Drive(ctx, d.town, client, push, d.relay.live(), func(err error) { d.log.Warn("the town cannot tell what happens", "error", err) })
	}()
	err = d.printWelcome(ctx, push)
	close(d.welcomed)
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, <-driven)
	}
	return <-driven
}

// register registers the two feeds and returns the push token.
func (d *demoRun) register(ctx context.Context, client *demo.Client) (push string, err error) {
	for _, a := range demoAccounts {
		if _, err := d.service.Accounts.Create(ctx, a.email); err != nil {
			return "", err
		}
	}
	if _, err := d.service.Accounts.SetRole(ctx, demoCurator, mapdata.Curator); err != nil {
		return "", err
	}
	token, err := d.service.Accounts.LoginLink(ctx, demoProvider)
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
		if _, err := d.service.Feeds.Approve(ctx, mapdata.Operator(), id, ""); err != nil {
			return "", fmt.Errorf("approve feed: %w", err)
		}
		if registered.PushToken != "" {
			push = registered.PushToken
		}
	}
	return push, d.installApps(ctx, client)
}

func (d *demoRun) feeds() []map[string]any {
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

// welcomeTimeout is how long the welcome waits for the first poll (D6.1), and for the relay to read its file.
const welcomeTimeout = 5 * time.Second

// printWelcome prints suggestions of what to try, once the town is visible.
func (d *demoRun) printWelcome(ctx context.Context, push string) error {
	deadline := time.NewTimer(welcomeTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting && (d.service.Entities() < 20 || !d.relay.answers(ctx)); {
		select {
		case <-ctx.Done():
			return nil
		case <-deadline.C:
			waiting = false
		case <-tick.C:
		}
	}
	links, err := d.signInLinks(ctx)
	if err != nil {
		return err
	}
	near := d.base + "/v2/entities/nearby?lat=52.0&lng=5.0&radius=3000"
	d.printf(`
The town is at 52.0, 5.0, and the service at %[1]s (the API is explained at %[1]s/docs).
Open the car's screen and drive through it:

  %[1]s/?drive=demo
%[6]s
Sign in, each in a browser or private window of its own (a link works once, within ten minutes):

%[7]s
Later, sign in at %[1]s/sign-in with one of these addresses: driver@example.org, %[8]s, %[9]s.
The codes that are e-mailed to them appear here; e-mails are written to
%[5]s

The provider owns the feeds of the town; publish one of your own at %[1]s/feeds/new, and approve it as the curator at
%[1]s/review. To confirm or dispute what you see, sign in as the driver.
%[11]s
Or try, in another shell:

  curl '%[2]s'
  curl '%[2]s&kinds=alert.police,traffic.jam'
  curl '%[1]s/v2/sources'
%[10]s
Police, accidents and jams come from a relay upstream, the process %[3]d. Stop it and see what becomes of them; start it again with

  %[4]s

The town moves every two seconds. Ctrl-C ends it; nothing is kept.
`, d.base, near, d.relay.pid(), d.relay.command(), d.outbox, d.phoneText(), links, demoProvider, demoCurator, d.roadsText(ctx, push), d.appsText())
	return nil
}
