package cli

import (
	"context"
	"fmt"
	"net"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/demo"
)

// tutorialPort is the port of the app that developers write with docs/apps.md.
const tutorialPort = "9000"

// newDemoApps opens the server of the demo's apps, and lets the service frame its pages. With --lan it returns nil: on a phone, the
// loopback address is the phone itself.
func (c *demoCmd) newDemoApps(ctx context.Context, cfg *config.Config) (*demo.Apps, error) {
	if c.LAN {
		return nil, nil
	}
	name := "localhost"
	if host, _, err := net.SplitHostPort(cfg.HTTP.Listen); err == nil && host == name {
		name = "127.0.0.1"
	}
	apps, err := demo.NewApps(ctx, name)
	if err != nil {
		return nil, err
	}
	cfg.Apps.DevOrigins = []string{apps.Origin(), "http://" + net.JoinHostPort(name, tutorialPort)}
	return apps, nil
}

// runApps serves the pages of the apps.
func (d *demoRun) runApps(ctx context.Context) error {
	if d.apps == nil {
		<-ctx.Done()
		return nil
	}
	return d.apps.Run(ctx, d.service.URL())
}

// installApps submits the apps as the town, approves them, and installs them for the driver.
func (d *demoRun) installApps(ctx context.Context, developer *demo.Client) error {
	if d.apps == nil {
		return nil
	}
	token, err := d.service.Accounts.LoginLink(ctx, demoAccounts[0].email)
	if err != nil {
		return err
	}
	driver := demo.NewClient(d.service.URL())
	if err := driver.SignIn(ctx, token); err != nil {
		return fmt.Errorf("sign the driver in: %w", err)
	}
	for _, a := range d.apps.All() {
		id, err := developer.Submit(ctx, a.Submission)
		if err != nil {
			return fmt.Errorf("submit app: %w", err)
		}
		parsed, _ := mapdata.ParseAppID(id)
		if _, _, err := d.service.Apps.Approve(ctx, mapdata.Operator(), parsed, 1); err != nil {
			return fmt.Errorf("approve app: %w", err)
		}
		if err := driver.Install(ctx, id, a.Config); err != nil {
			return fmt.Errorf("install app: %w", err)
		}
	}
	return nil
}

// appsText describes where the apps are.
func (d *demoRun) appsText() string {
	if d.apps == nil {
		return ""
	}
	return fmt.Sprintf(`
Two apps, Trip and Charging, are installed for the driver: sign in as the driver, and see them beside the map. Their pages come from
%[2]s, as from a developer's server. The catalogue is at %[1]s/apps, the driver's settings are at %[1]s/account,
and what waits for the curator is at %[1]s/review. Write one yourself: docs/apps.md, and try it at %[1]s/apps/bench.
`, d.base, d.apps.Origin())
}
