package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/apps"
)

// appCmds are wayside app ….
type appCmds struct {
	List    appListCmd    `cmd:"" help:"List apps."`
	Show    appShowCmd    `cmd:"" help:"Show one app with all of its versions."`
	Approve appApproveCmd `cmd:"" help:"Approve the version of an app that waits: drivers can install it. Its developer gets an e-mail."`
	Reject  appRejectCmd  `cmd:"" help:"Reject the version of an app that waits. Its developer gets an e-mail with the reason."`
	Suspend appSuspendCmd `cmd:"" help:"Take an app out of the catalogue and out of cars. Its developer gets an e-mail with the reason."`
	Resume  appResumeCmd  `cmd:"" help:"End the suspension of an app. Its developer gets an e-mail."`
	Check   appCheckCmd   `cmd:"" help:"Check the page of an app in an installed Chromium, as the app bench does. No service is needed."`
}

// appArg selects an app.
type appArg struct {
	ID string `arg:"" name:"id" help:"The app's id."`
}

var (
	// errNoApp is also the error for an invalid id.
	errNoApp     = errors.New("no app has this id")
	errNoPending = errors.New("no version of this app waits for a review")
	errAppsOff   = errors.New("apps are off: set apps.enabled = true in the configuration, and restart the service")
)

// withApps runs a command, or fails where apps are not enabled.
func (f *adminFlags) withApps(p *program, do func(ctx context.Context, deps *adminDeps) error) error {
	return f.with(p, func(ctx context.Context, deps *adminDeps) error {
		if !deps.config.Apps.Enabled {
			return errAppsOff
		}
		return do(ctx, deps)
	})
}

// withApp prints the app that do reads or changes.
func (f *adminFlags) withApp(p *program, arg *appArg, do func(ctx context.Context, deps *adminDeps, id mapdata.AppID) (*mapdata.App, error)) error {
	return f.withApps(p, func(ctx context.Context, deps *adminDeps) error {
		id, ok := mapdata.ParseAppID(arg.ID)
		if !ok {
			return errNoApp
		}
		a, err := do(ctx, deps, id)
		if errors.Is(err, mapdata.ErrNotFound) {
			return errNoApp
		}
		if err != nil {
			return err
		}
		return f.showApp(p, deps, a)
	})
}

// decideOnApp decides on the pending version, or on the one with the given number.
func (f *adminFlags) decideOnApp(
	p *program, arg *appArg, number int,
	decide func(ctx context.Context, deps *adminDeps, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error),
) error {
	return f.withApp(p, arg, func(ctx context.Context, deps *adminDeps, id mapdata.AppID) (*mapdata.App, error) {
		if number == 0 {
			a, err := deps.Apps.Versions(ctx, mapdata.Operator(), id)
			if err != nil {
				return nil, err
			}
			v := a.Version(mapdata.AppPending)
			if v == nil {
				return nil, errNoPending
			}
			number = v.Number
		}
		a, _, err := decide(ctx, deps, id, number)
		return a, err
	})
}

type appListCmd struct{ adminFlags }

// Run lists every app.
func (c *appListCmd) Run(p *program) error {
	return c.withApps(p, func(ctx context.Context, deps *adminDeps) error {
		all, err := deps.Apps.All(ctx, mapdata.Operator())
		if err != nil {
			return err
		}
		shown := make([]appJSON, len(all))
		rows := [][]string{{"ID", "NAME", "KINDS", "DEVELOPER", "STATE"}}
		for i := range all {
			shown[i] = shapeApp(deps, &all[i])
			a := &shown[i]
			rows = append(rows, []string{a.ID, a.Name, strings.Join(a.Kinds, ","), a.Developer, a.State})
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		return p.writeTable(rows)
	})
}

type appShowCmd struct {
	adminFlags
	appArg
}

// Run shows one app.
func (c *appShowCmd) Run(p *program) error {
	return c.withApp(p, &c.appArg, func(ctx context.Context, deps *adminDeps, id mapdata.AppID) (*mapdata.App, error) {
		return deps.Apps.Versions(ctx, mapdata.Operator(), id)
	})
}

// appVersionFlag binds a decision to the version that was reviewed.
type appVersionFlag struct {
	Version int `name:"version" placeholder:"N" help:"Number of the version that app show printed; the one that waits by default."`
}

type appApproveCmd struct {
	adminFlags
	appArg
	appVersionFlag
}

// Run approves a version, whose page is fetched once more. The developer gets an e-mail.
func (c *appApproveCmd) Run(p *program) error {
	return c.decideOnApp(p, &c.appArg, c.Version, func(ctx context.Context, deps *adminDeps, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error) {
		done, err := deps.LookAtPages(deps.config, version)
		if err != nil {
			return nil, nil, err
		}
		defer done()
		return deps.Apps.Approve(ctx, mapdata.Operator(), id, number)
	})
}

type appRejectCmd struct {
	adminFlags
	appArg
	appVersionFlag
	Note string `name:"note" required:"" placeholder:"N" help:"Reason; included in the e-mail to the developer."`
}

// Run rejects a version. The developer gets an e-mail.
func (c *appRejectCmd) Run(p *program) error {
	return c.decideOnApp(p, &c.appArg, c.Version, func(ctx context.Context, deps *adminDeps, id mapdata.AppID, number int) (*mapdata.App, *mapdata.AppVersion, error) {
		return deps.Apps.Reject(ctx, mapdata.Operator(), id, number, c.Note)
	})
}

type appSuspendCmd struct {
	adminFlags
	appArg
	Note string `name:"note" required:"" placeholder:"N" help:"Reason; included in the e-mail to the developer."`
}

// Run suspends an app. The developer gets an e-mail.
func (c *appSuspendCmd) Run(p *program) error {
	return c.withApp(p, &c.appArg, func(ctx context.Context, deps *adminDeps, id mapdata.AppID) (*mapdata.App, error) {
		return deps.Apps.Suspend(ctx, mapdata.Operator(), id, c.Note)
	})
}

type appResumeCmd struct {
	adminFlags
	appArg
}

// Run ends a suspension. The developer gets an e-mail.
func (c *appResumeCmd) Run(p *program) error {
	return c.withApp(p, &c.appArg, func(ctx context.Context, deps *adminDeps, id mapdata.AppID) (*mapdata.App, error) {
		return deps.Apps.Resume(ctx, mapdata.Operator(), id)
	})
}

// appJSON is an app in the output of --json.
type appJSON struct {
	ID            string           `json:"id"`
	Slug          string           `json:"slug"`
	Owner         string           `json:"owner,omitempty"` // empty: the account is gone
	Name          string           `json:"name"`
	Kinds         []string         `json:"kinds"`
	Developer     string           `json:"developer"`
	State         string           `json:"state"`
	SuspendedAt   apiTime          `json:"suspended_at"`
	SuspendedNote string           `json:"suspended_note,omitempty"`
	Versions      []appVersionJSON `json:"versions"`
}

type appVersionJSON struct {
	Number      int      `json:"number"`
	State       string   `json:"state"`
	ReviewNote  string   `json:"review_note,omitempty"`
	SubmittedAt apiTime  `json:"submitted_at"`
	DecidedAt   apiTime  `json:"decided_at"`
	Name        string   `json:"name"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	Kinds       []string `json:"kinds"`
	FeedIDs     []string `json:"feed_ids"`
	WidgetURL   string   `json:"widget_url,omitempty"`
	WebsiteURL  string   `json:"website_url,omitempty"`
	PrivacyURL  string   `json:"privacy_url,omitempty"`
	Domains     []string `json:"domains"`
	Cost        string   `json:"cost"`
	CostNote    string   `json:"cost_note,omitempty"`
	Changelog   string   `json:"changelog,omitempty"`
}

func shapeApp(deps *adminDeps, a *mapdata.App) appJSON {
	l := deps.Apps.Describe(a, apps.Latest(a))
	out := appJSON{
		ID: a.ID.String(), Slug: a.Slug, Name: l.Version.Fields.Name, Kinds: kindNames(l.Version.Fields.Kinds), Developer: l.Developer,
		State: appState(a), SuspendedAt: apiTime{a.SuspendedAt}, SuspendedNote: a.SuspendedNote,
	}
	if !a.Owner.IsZero() {
		out.Owner = a.Owner.String()
	}
	for i := range a.Versions {
		v := &a.Versions[i]
		f := &v.Fields
		out.Versions = append(out.Versions, appVersionJSON{
			Number: v.Number, State: string(v.State), ReviewNote: v.Note, SubmittedAt: apiTime{v.SubmittedAt}, DecidedAt: apiTime{v.DecidedAt},
			Name: f.Name, Summary: f.Summary, Description: f.Description, Kinds: kindNames(f.Kinds), FeedIDs: append([]string{}, f.FeedIDs...),
			WidgetURL: f.WidgetURL, WebsiteURL: f.WebsiteURL, PrivacyURL: f.PrivacyURL, Domains: append([]string{}, f.Domains...),
			Cost: f.Cost.Model, CostNote: f.Cost.Note, Changelog: f.Changelog,
		})
	}
	return out
}

func kindNames(kinds []mapdata.AppKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}

// appState describes the state of an app in a word or two.
func appState(a *mapdata.App) string {
	state := string(apps.Latest(a).State)
	switch {
	case a.Owner.IsZero():
		return "without owner"
	case !a.SuspendedAt.IsZero():
		return "suspended"
	case a.Version(mapdata.AppApproved) != nil && a.Version(mapdata.AppPending) != nil:
		return state + ", pending"
	}
	return state
}

func (f *adminFlags) showApp(p *program, deps *adminDeps, a *mapdata.App) error {
	shown := shapeApp(deps, a)
	if f.JSON {
		return p.writeJSON(shown)
	}
	p.printf("%s %s (%s)\n", shown.ID, printable(shown.Name), shown.State)
	p.printf("  slug       %s\n  developer  %s\n", shown.Slug, printable(shown.Developer))
	if shown.SuspendedNote != "" {
		p.printf("  suspended  %s\n", printable(shown.SuspendedNote))
	}
	rows := [][]string{{"VERSION", "STATE", "KINDS", "PAGE", "DOMAINS", "FIELDS", "COST", "NOTE"}}
	for i := range shown.Versions {
		v := &shown.Versions[i]
		secrets := 0
		schema := a.Versions[i].Fields.ConfigSchema
		for j := range schema {
			if schema[j].Secret {
				secrets++
			}
		}
		rows = append(rows, []string{
			strconv.Itoa(v.Number), v.State, strings.Join(v.Kinds, ","), v.WidgetURL, strings.Join(v.Domains, ","),
			fmt.Sprintf("%d (%d secret)", len(schema), secrets), v.Cost, v.ReviewNote,
		})
	}
	return p.writeTable(rows)
}
