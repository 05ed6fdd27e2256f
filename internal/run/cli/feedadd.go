package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/openfeeds"
	"wayside/internal/ground/mapdata"
)

type feedCatalogueCmd struct {
	adminFlags
	Country string `name:"country" placeholder:"CC" help:"Only feeds of this country: its code, such as NL."`
	Format  string `name:"format" placeholder:"F" help:"Only feeds of this format."`
}

// Run lists open feeds.
func (c *feedCatalogueCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	all, err := openfeeds.Load(cfg.Catalogue.File)
	if err != nil {
		return err
	}
	shown := []openfeeds.Feed{}
	for i := range all {
		if (c.Country == "" || strings.EqualFold(all[i].Country, c.Country)) && (c.Format == "" || all[i].Format == c.Format) {
			shown = append(shown, all[i])
		}
	}
	if c.JSON {
		return p.writeJSON(shown)
	}
	rows := [][]string{{"ID", "COUNTRY", "FORMAT", "ACCESS", "LICENCE", "TERMS READ", "NAME"}}
	for i := range shown {
		f := &shown[i]
		checked := "no"
		if f.Checked != nil {
			checked = *f.Checked
		}
		rows = append(rows, []string{f.ID, f.Country, f.Format, f.Auth, f.Licence, checked, f.Name})
	}
	return p.writeTable(rows)
}

type feedAddCmd struct {
	adminFlags
	emailFlag
	FromCatalogue  string  `name:"from-catalogue" placeholder:"ID" help:"Take everything from this open feed: see feed catalogue. Other flags replace what it says."`
	Name           string  `name:"name" placeholder:"N" help:"Name for people."`
	URL            string  `name:"url" placeholder:"U" help:"URL to poll, https://…"`
	Format         string  `name:"format" placeholder:"F" help:"Format of what it returns: v1 (default) or one of ${bridgeFormats}."`
	Mapping        string  `name:"mapping" placeholder:"FILE" help:"File with the mapping of geojson or csv."`
	StatusURL      string  `name:"status-url" placeholder:"U" help:"URL of the second document of datex2-energy."`
	TimeZone       string  `name:"time-zone" placeholder:"Z" help:"Time zone of schedules and of times without an offset, such as Europe/Amsterdam."`
	ChargerNetwork string  `name:"charger-network" placeholder:"N" help:"Network of all chargers, or none: everybody sees them."`
	Attribution    string  `name:"attribution" placeholder:"A" help:"What must be shown with the data."`
	Licence        string  `name:"licence" placeholder:"L" help:"Licence of the data: an SPDX identifier, or any name."`
	Interval       float64 `name:"interval" placeholder:"S" help:"Seconds between polls, 30 to 3600."`
	AuthHeader     string  `name:"auth-header" placeholder:"NAME: VALUE" help:"Header to send with each poll."`
	Public         bool    `name:"public" help:"Show it to everybody once it is approved."`
	Approve        bool    `name:"approve" help:"Approve it."`
}

// Run registers a pull feed for an account.
func (c *feedAddCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		registration, hint, err := c.registration(deps)
		if err != nil {
			return err
		}
		owner, err := deps.Accounts.ByEmail(ctx, c.Email)
		if errors.Is(err, mapdata.ErrNotFound) {
			return fmt.Errorf("no account has the e-mail address %s: create it with wayside account create", c.Email)
		}
		if err != nil {
			return err
		}
		view, _, err := deps.Feeds.Register(ctx, mapdata.ActorOf(owner), registration)
		if err != nil {
			return wrongFields(err)
		}
		if c.Approve {
			if view, err = deps.Feeds.Approve(ctx, mapdata.Operator(), view.ID, ""); err != nil {
				return err
			}
		}
		if hint != "" {
			_, _ = fmt.Fprintln(p.stderr, hint)
		}
		return c.showFeed(ctx, p, deps, view)
	})
}

// registration returns the registration from the flags, and a hint about the open feed for the operator.
func (c *feedAddCmd) registration(deps *adminDeps) (_ *feed.Registration, hint string, err error) {
	r := feed.Registration{Direction: string(mapdata.Pull)}
	if c.FromCatalogue != "" {
		all, err := openfeeds.Load(deps.config.Catalogue.File)
		if err != nil {
			return nil, "", err
		}
		open, found := openfeeds.Find(all, c.FromCatalogue)
		if !found {
			return nil, "", fmt.Errorf("no open feed has the id %s: wayside feed catalogue lists them", c.FromCatalogue)
		}
		r, hint = open.Registration(), c.hintOn(open)
		if c.Format == "" {
			deps.Feeds.Fit(&r.Settings)
		}
	}
	mapping := ""
	if c.Mapping != "" {
		text, err := os.ReadFile(c.Mapping)
		if err != nil {
			return nil, "", fmt.Errorf("read mapping: %w", err)
		}
		mapping = string(text)
	}
	for _, flag := range []struct {
		text string
		to   **string
	}{
		{c.Name, &r.Name},
		{c.URL, &r.PullURL},
		{c.Format, &r.Format},
		{mapping, &r.Mapping},
		{c.StatusURL, &r.StatusURL},
		{c.TimeZone, &r.TimeZone},
		{c.ChargerNetwork, &r.ChargerNetwork},
		{c.Attribution, &r.Attribution},
		{c.Licence, &r.Licence},
		{c.AuthHeader, &r.PullAuthHeader},
	} {
		if flag.text != "" {
			*flag.to = &flag.text
		}
	}
	if c.Interval != 0 {
		r.PullIntervalSeconds = &c.Interval
	}
	if c.Public {
		public := string(mapdata.Public)
		r.Visibility = &public
	}
	return &r, hint, nil
}

// hintOn describes what an open feed needs beyond its entry in the catalogue.
func (c *feedAddCmd) hintOn(f *openfeeds.Feed) string {
	var hints []string
	switch {
	case f.Auth == openfeeds.AuthHeader && c.AuthHeader == "":
		hints = append(hints, "The publisher asks for a header: --auth-header "+strconv.Quote(f.AuthHint)+".")
	case f.Auth == openfeeds.AuthKey:
		hints = append(hints, "The publisher wants a key: "+f.AuthHint+" ("+f.Homepage+").")
	case f.Auth == openfeeds.AuthAgreement:
		hints = append(hints, "The publisher wants an agreement, or a server of your own: "+f.Homepage+".")
	}
	if f.Checked == nil {
		hints = append(hints, "Its terms were not read at the publisher's ("+f.Evidence+"): read them before you make the feed public.")
	}
	return strings.Join(hints, "\n")
}

// wrongFields lists the invalid flags of a registration.
func wrongFields(err error) error {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	var all []string
	for _, f := range invalid.Fields {
		all = append(all, f.Field+" "+f.Message)
	}
	return errors.New(strings.Join(all, "; "))
}
