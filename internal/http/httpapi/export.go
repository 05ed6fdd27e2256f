package httpapi

import (
	"encoding/json"
	"net/http"
	"time"

	"wayside/internal/ground/mapdata"
)

// exportJSON is everything that the service stores about a person (D11.6), without secrets, which are stored as hashes.
type exportJSON struct {
	ExportedAt  timestamp        `json:"exported_at"`
	Account     exportedAccount  `json:"account"`
	EmailChange *emailChangeJSON `json:"email_change,omitempty"`
	Sessions    []sessionJSON    `json:"sessions"`
	APITokens   []tokenJSON      `json:"api_tokens"`
	Passkeys    []passkeyJSON    `json:"passkeys"`
	Preferences preferencesJSON  `json:"preferences"`
	Places      *placesJSON      `json:"places,omitempty"`
	Feeds       []any            `json:"feeds"`
	Votes       []voteJSON       `json:"votes"`
	Reports     []reportJSON     `json:"reports"`
	Log         []logEntryJSON   `json:"log"`

	Apps          []exportedAppJSON  `json:"apps,omitempty"`           // submitted by the account
	InstalledApps []installedAppJSON `json:"installed_apps,omitempty"` // with masked secrets, which show that one is set
	PublicName    string             `json:"public_name,omitempty"`
}

type exportedAccount struct {
	accountJSON
	Language string `json:"language"`
}

// voteJSON is a vote that is still linked to the account (D9.7).
type voteJSON struct {
	EntityID string    `json:"entity_id"`
	Vote     *string   `json:"vote"`
	At       timestamp `json:"at"`
}

// reportJSON is a report that is still linked to the account (D17.38).
type reportJSON struct {
	EntityID   string          `json:"entity_id"`
	KindID     string          `json:"kind_id"`
	Lat        float64         `json:"lat"`
	Lng        float64         `json:"lng"`
	Properties json.RawMessage `json:"properties"`
	At         timestamp       `json:"at"`
}

// logEntryJSON is an entry of the audit log by the account or about something that it owns.
type logEntryJSON struct {
	At      timestamp `json:"at"`
	Action  string    `json:"action"`
	Subject string    `json:"subject"`
	Note    string    `json:"note"`
	ByYou   bool      `json:"by_you"`
}

// getExport answers GET /v2/account/export.
func (a *api) getExport(w http.ResponseWriter, r *http.Request, c *caller) error {
	now := a.Now()
	out := exportJSON{
		ExportedAt: timestamp(now), Account: exportedAccount{newAccountJSON(c.account, c.session), string(c.account.Language)},
		Sessions: []sessionJSON{}, APITokens: []tokenJSON{}, Feeds: []any{},
	}
	out.Account.Scope = "" // it is the session's
	for _, fill := range []func(*http.Request, *caller, *exportJSON) error{
		a.exportAccess, a.exportEmailChange, a.exportFeeds, a.exportActivity, a.exportApps,
	} {
		if err := fill(r, c, &out); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="wayside-`+now.UTC().Format(time.DateOnly)+`.json"`)
	return writeJSON(w, r, http.StatusOK, &out)
}

func (a *api) exportAccess(r *http.Request, c *caller, out *exportJSON) error {
	sessions, err := a.Accounts.Sessions(r.Context(), c.id())
	if err != nil {
		return err
	}
	for i := range sessions {
		out.Sessions = append(out.Sessions, newSessionJSON(&sessions[i], c))
	}
	tokens, err := a.Accounts.APITokens(r.Context(), c.id())
	if err != nil {
		return err
	}
	for i := range tokens {
		out.APITokens = append(out.APITokens, newTokenJSON(&tokens[i]))
	}
	if out.Passkeys, err = a.passkeysOf(r, c); err != nil {
		return err
	}
	chosen, err := a.Accounts.Preferences(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Preferences = preferencesJSON(*chosen)
	places, err := a.Accounts.SavedPlaces(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Places = newPlacesJSON(places)
	return nil
}

func (a *api) exportFeeds(r *http.Request, c *caller, out *exportJSON) error {
	feeds, err := a.Feeds.List(r.Context(), mapdata.ActorOf(c.account))
	if err != nil {
		return err
	}
	for i := range feeds {
		if feeds[i].Owner == c.id() {
			out.Feeds = append(out.Feeds, newFeedJSON(&feeds[i]))
		}
	}
	return nil
}

// exportedAppJSON is an app that the account submitted.
type exportedAppJSON struct {
	ID            string           `json:"id"`
	Slug          string           `json:"slug"`
	SuspendedAt   timestamp        `json:"suspended_at"`
	SuspendedNote string           `json:"suspended_note"`
	Versions      []appVersionJSON `json:"versions"`
}

// exportApps adds the apps that the account submitted and installed, if apps are enabled. Secrets are masked: the export shows only
// that they are set.
func (a *api) exportApps(r *http.Request, c *caller, out *exportJSON) error {
	if a.Apps == nil {
		return nil
	}
	out.PublicName = c.account.PublicName
	own, err := a.Apps.Own(r.Context(), mapdata.ActorOf(c.account))
	if err != nil {
		return err
	}
	for i := range own {
		app := &own[i]
		one := exportedAppJSON{ID: app.ID.String(), Slug: app.Slug, SuspendedAt: timestamp(app.SuspendedAt), SuspendedNote: app.SuspendedNote}
		for j := range app.Versions {
			one.Versions = append(one.Versions, a.newAppVersionJSON(app, &app.Versions[j]))
		}
		out.Apps = append(out.Apps, one)
	}
	installed, err := a.Apps.Installed(r.Context(), c.id())
	if err != nil {
		return err
	}
	for i := range installed {
		out.InstalledApps = append(out.InstalledApps, a.newInstalledAppJSON(&installed[i]))
	}
	return nil
}

func (a *api) exportActivity(r *http.Request, c *caller, out *exportJSON) error {
	votes, err := a.Accounts.Ballots(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Votes = make([]voteJSON, len(votes))
	for i := range votes {
		b := &votes[i]
		out.Votes[i] = voteJSON{EntityID: mapdata.EntityID(b.Source, b.ExternalID), Vote: voteName(b.Vote), At: timestamp(b.At)}
	}
	reports, err := a.Accounts.Reports(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Reports = make([]reportJSON, len(reports))
	for i := range reports {
		o := &reports[i]
		out.Reports[i] = reportJSON{
			EntityID: mapdata.EntityID(mapdata.Drivers, o.ExternalID), KindID: o.Kind.ID(), Lat: o.Point.Lat, Lng: o.Point.Lng,
			Properties: json.RawMessage(o.Properties), At: timestamp(o.At),
		}
	}
	entries, err := a.Accounts.Log(r.Context(), c.id())
	if err != nil {
		return err
	}
	out.Log = make([]logEntryJSON, len(entries))
	for i := range entries {
		e := &entries[i]
		out.Log[i] = logEntryJSON{At: timestamp(e.At), Action: e.Action, Subject: e.Subject, Note: e.Note, ByYou: e.Actor == c.id()}
	}
	return nil
}
