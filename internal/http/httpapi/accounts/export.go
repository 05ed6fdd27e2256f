package accounts

import (
	"encoding/json"
	"net/http"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/apps"
)

// Shapes encode for an account's export what belongs to other parts of the API, as these encode it.
type Shapes struct {
	Feed         func(*feed.View) any
	AppVersion   func(*mapdata.App, *mapdata.AppVersion) any
	InstalledApp func(*apps.Installed) any
	Vote         func(mapdata.Vote) *string // nil: there is none
}

// exportJSON is everything that the service stores about a person (D11.6), without secrets, which are stored as hashes.
type exportJSON struct {
	ExportedAt  httpapi.Timestamp `json:"exported_at"`
	Account     exportedAccount   `json:"account"`
	EmailChange *emailChangeJSON  `json:"email_change,omitempty"`
	Sessions    []sessionJSON     `json:"sessions"`
	APITokens   []tokenJSON       `json:"api_tokens"`
	Passkeys    []passkeyJSON     `json:"passkeys"`
	Preferences preferencesJSON   `json:"preferences"`
	Places      *placesJSON       `json:"places,omitempty"`
	Feeds       []any             `json:"feeds"`
	Votes       []voteJSON        `json:"votes"`
	Reports     []reportJSON      `json:"reports"`
	Log         []logEntryJSON    `json:"log"`

	Apps          []exportedAppJSON `json:"apps,omitempty"`           // submitted by the account
	InstalledApps []any             `json:"installed_apps,omitempty"` // with masked secrets, which show that one is set
	PublicName    string            `json:"public_name,omitempty"`
}

type exportedAccount struct {
	accountJSON
	Language string `json:"language"`
}

// voteJSON is a vote that is still linked to the account (D9.7).
type voteJSON struct {
	EntityID string            `json:"entity_id"`
	Vote     *string           `json:"vote"`
	At       httpapi.Timestamp `json:"at"`
}

// reportJSON is a report that is still linked to the account (D17.38).
type reportJSON struct {
	EntityID   string            `json:"entity_id"`
	KindID     string            `json:"kind_id"`
	Lat        float64           `json:"lat"`
	Lng        float64           `json:"lng"`
	Properties json.RawMessage   `json:"properties"`
	At         httpapi.Timestamp `json:"at"`
}

// logEntryJSON is an entry of the audit log by the account or about something that it owns.
type logEntryJSON struct {
	At      httpapi.Timestamp `json:"at"`
	Action  string            `json:"action"`
	Subject string            `json:"subject"`
	Note    string            `json:"note"`
	ByYou   bool              `json:"by_you"`
}

// getExport answers GET /v2/account/export.
func (a *api) getExport(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	now := a.Now()
	out := exportJSON{
		ExportedAt: httpapi.Timestamp(now), Account: exportedAccount{newAccountJSON(c.Account, c.Session), string(c.Account.Language)},
		Sessions: []sessionJSON{}, APITokens: []tokenJSON{}, Feeds: []any{},
	}
	out.Account.Scope = "" // it is the session's
	for _, fill := range []func(*http.Request, *httpapi.Caller, *exportJSON) error{
		a.exportAccess, a.exportEmailChange, a.exportFeeds, a.exportActivity, a.exportApps,
	} {
		if err := fill(r, c, &out); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="wayside-`+now.UTC().Format(time.DateOnly)+`.json"`)
	return httpapi.WriteJSON(w, r, http.StatusOK, &out)
}

func (a *api) exportAccess(r *http.Request, c *httpapi.Caller, out *exportJSON) error {
	sessions, err := a.Accounts.Sessions(r.Context(), c.ID())
	if err != nil {
		return err
	}
	for i := range sessions {
		out.Sessions = append(out.Sessions, newSessionJSON(&sessions[i], c))
	}
	tokens, err := a.Accounts.APITokens(r.Context(), c.ID())
	if err != nil {
		return err
	}
	for i := range tokens {
		out.APITokens = append(out.APITokens, newTokenJSON(&tokens[i]))
	}
	if out.Passkeys, err = a.passkeysOf(r, c); err != nil {
		return err
	}
	chosen, err := a.Accounts.Preferences(r.Context(), c.ID())
	if err != nil {
		return err
	}
	out.Preferences = preferencesJSON(*chosen)
	places, err := a.Accounts.SavedPlaces(r.Context(), c.ID())
	if err != nil {
		return err
	}
	out.Places = newPlacesJSON(places)
	return nil
}

func (a *api) exportFeeds(r *http.Request, c *httpapi.Caller, out *exportJSON) error {
	feeds, err := a.Feeds.List(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	for i := range feeds {
		if feeds[i].Owner == c.ID() {
			out.Feeds = append(out.Feeds, a.Shapes.Feed(&feeds[i]))
		}
	}
	return nil
}

// exportedAppJSON is an app that the account submitted.
type exportedAppJSON struct {
	ID            string            `json:"id"`
	Slug          string            `json:"slug"`
	SuspendedAt   httpapi.Timestamp `json:"suspended_at"`
	SuspendedNote string            `json:"suspended_note"`
	Versions      []any             `json:"versions"`
}

// exportApps adds the apps that the account submitted and installed, if apps are enabled. Secrets are masked: the export shows only
// that they are set.
func (a *api) exportApps(r *http.Request, c *httpapi.Caller, out *exportJSON) error {
	if a.Apps == nil {
		return nil
	}
	out.PublicName = c.Account.PublicName
	own, err := a.Apps.Own(r.Context(), mapdata.ActorOf(c.Account))
	if err != nil {
		return err
	}
	for i := range own {
		app := &own[i]
		one := exportedAppJSON{ID: app.ID.String(), Slug: app.Slug, SuspendedAt: httpapi.Timestamp(app.SuspendedAt), SuspendedNote: app.SuspendedNote}
		for j := range app.Versions {
			one.Versions = append(one.Versions, a.Shapes.AppVersion(app, &app.Versions[j]))
		}
		out.Apps = append(out.Apps, one)
	}
	installed, err := a.Apps.Installed(r.Context(), c.ID())
	if err != nil {
		return err
	}
	for i := range installed {
		out.InstalledApps = append(out.InstalledApps, a.Shapes.InstalledApp(&installed[i]))
	}
	return nil
}

func (a *api) exportActivity(r *http.Request, c *httpapi.Caller, out *exportJSON) error {
	votes, err := a.Accounts.Ballots(r.Context(), c.ID())
	if err != nil {
		return err
	}
	out.Votes = make([]voteJSON, len(votes))
	for i := range votes {
		b := &votes[i]
		out.Votes[i] = voteJSON{EntityID: mapdata.EntityID(b.Source, b.ExternalID), Vote: a.Shapes.Vote(b.Vote), At: httpapi.Timestamp(b.At)}
	}
	reports, err := a.Accounts.Reports(r.Context(), c.ID())
	if err != nil {
		return err
	}
	out.Reports = make([]reportJSON, len(reports))
	for i := range reports {
		o := &reports[i]
		out.Reports[i] = reportJSON{
			EntityID: mapdata.EntityID(mapdata.Drivers, o.ExternalID), KindID: o.Kind.ID(), Lat: o.Point.Lat, Lng: o.Point.Lng,
			Properties: json.RawMessage(o.Properties), At: httpapi.Timestamp(o.At),
		}
	}
	entries, err := a.Accounts.Log(r.Context(), c.ID())
	if err != nil {
		return err
	}
	out.Log = make([]logEntryJSON, len(entries))
	for i := range entries {
		e := &entries[i]
		out.Log[i] = logEntryJSON{At: httpapi.Timestamp(e.At), Action: e.Action, Subject: e.Subject, Note: e.Note, ByYou: e.Actor == c.ID()}
	}
	return nil
}
