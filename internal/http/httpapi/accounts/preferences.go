package accounts

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// maxPreferencesBytes bounds a body of preferences.
const maxPreferencesBytes = 8 << 10

// preferencesJSON contains only the preferences that are set.
type preferencesJSON struct {
	Units      *string  `json:"units,omitempty"`
	Theme      *string  `json:"theme,omitempty"`
	Language   *string  `json:"language,omitempty"`
	Density    *float64 `json:"density,omitempty"`
	Tones      *bool    `json:"tones,omitempty"`
	Lead       *float64 `json:"lead,omitempty"`
	SourcesOff []string `json:"sources_off,omitzero"` // an empty list is a preference too
	KindsOff   []string `json:"kinds_off,omitzero"`
	Networks   []string `json:"networks,omitzero"`
}

type preferencesAnswer struct {
	Preferences preferencesJSON `json:"preferences"`
}

// getPreferences answers GET /v2/account/preferences.
func (a *api) getPreferences(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	p, err := a.Accounts.Preferences(r.Context(), c.ID())
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, preferencesAnswer{preferencesJSON(*p)})
}

// putPreferences answers PUT /v2/account/preferences: members that are left out are reset.
func (a *api) putPreferences(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFieldsUpTo(w, r, maxPreferencesBytes)
	if err != nil {
		return err
	}
	p := &mapdata.Preferences{
		Units: f.Optional("units"), Theme: f.Optional("theme"), Language: f.Optional("language"),
		Density: f.Number("density"), Tones: f.Boolean("tones"), Lead: f.Number("lead"),
		SourcesOff: f.Texts("sources_off"), KindsOff: f.Texts("kinds_off"), Networks: f.Texts("networks"),
	}
	if err := f.Check(); err != nil {
		return httpapi.MergeFieldErrors(err, account.CheckPreferences(p))
	}
	if err := a.Accounts.SetPreferences(r.Context(), c.ID(), p); err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, preferencesAnswer{preferencesJSON(*p)})
}
