package apps

import (
	"net/http"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/apps"
)

// publicNamePath is the name of an account in the catalogue of apps.
const publicNamePath = "/v2/account/public-name"

// putPublicName answers PUT /v2/account/public-name; an empty name removes it.
func (a *api) putPublicName(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	name := f.Required("public_name")
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Accounts.SetPublicName(r.Context(), c.ID(), name); err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]string{"public_name": strings.TrimSpace(name)})
}

// installedAppJSON is an app that the account installed, with masked secrets.
type installedAppJSON struct {
	App         appJSON           `json:"app"`
	Config      mapdata.AppConfig `json:"config"`
	InstalledAt httpapi.Timestamp `json:"installed_at"`
	Hidden      bool              `json:"hidden"`
}

func newInstalledAppJSON(base string, i *apps.Installed) installedAppJSON {
	return installedAppJSON{App: newAppJSON(base, i.Listed), Config: i.Config, InstalledAt: httpapi.Timestamp(i.InstalledAt), Hidden: i.Hidden}
}

// getInstalledApps answers GET /v2/account/apps with the apps that the account installed and that are served now.
func (a *api) getInstalledApps(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	all, err := a.Apps.Installed(r.Context(), c.ID())
	if err != nil {
		return err
	}
	list := []installedAppJSON{}
	for i := range all {
		if all[i].Served {
			list = append(list, newInstalledAppJSON(a.BaseURL, &all[i]))
		}
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"apps": list})
}

// putInstalledApp answers PUT /v2/account/apps/{id}: it installs an app, changes its settings, shows or hides it. A paired screen
// only shows and hides (D16.10).
func (a *api) putInstalledApp(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	change := apps.Change{Hidden: f.Boolean("hidden")}
	if config, ok := f.Take("config"); ok {
		change.Config = config
	}
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case change.Config != nil && c.Session.Scope == mapdata.ScopeScreen:
		return mapdata.Explain(mapdata.ErrSignInRequired, "screen_only", "A paired screen shows and hides apps. Sign in with your e-mail address or a passkey to install or set them.")
	case change.Config == nil && change.Hidden == nil:
		return &mapdata.InvalidError{Fields: []mapdata.FieldError{{Field: "config", Code: "missing", Message: "is required, or hidden is"}}}
	}
	installed, err := a.Apps.Configure(r.Context(), c.ID(), id, change)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, newInstalledAppJSON(a.BaseURL, installed))
}

// deleteInstalledApp answers DELETE /v2/account/apps/{id}.
func (a *api) deleteInstalledApp(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	if err := a.Apps.Uninstall(r.Context(), c.ID(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postAppFrame answers POST /v2/account/apps/{id}/frame with the data with which the page in the car mounts a frame, secrets in
// full. It is a POST so that no other site's page can make a browser request it.
func (a *api) postAppFrame(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	frame, err := a.Apps.Frame(r.Context(), c.ID(), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"src": frame.Src, "origin": frame.Origin, "config": frame.Config})
}
