package httpapi

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
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
func (a *api) getPreferences(w http.ResponseWriter, r *http.Request, c *caller) error {
	p, err := a.Accounts.Preferences(r.Context(), c.id())
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, preferencesAnswer{preferencesJSON(*p)})
}

// putPreferences answers PUT /v2/account/preferences: members that are left out are reset.
func (a *api) putPreferences(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFieldsUpTo(w, r, maxPreferencesBytes)
	if err != nil {
		return err
	}
	p := &mapdata.Preferences{
		Units: f.optional("units"), Theme: f.optional("theme"), Language: f.optional("language"),
		Density: f.number("density"), Tones: f.boolean("tones"), Lead: f.number("lead"),
		SourcesOff: f.texts("sources_off"), KindsOff: f.texts("kinds_off"), Networks: f.texts("networks"),
	}
	if err := f.check(); err != nil {
		return mergeFieldErrors(err, account.CheckPreferences(p))
	}
	if err := a.Accounts.SetPreferences(r.Context(), c.id(), p); err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, preferencesAnswer{preferencesJSON(*p)})
}

// texts takes a list of strings; nil: absent.
func (f *requestFields) texts(name string) []string {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	list, dec := []string{}, jsontext.NewDecoder(bytes.NewReader(value))
	if start, err := dec.ReadToken(); err == nil && start.Kind() == '[' {
		for dec.PeekKind() == '"' {
			item, err := dec.ReadToken()
			if err != nil {
				break
			}
			list = append(list, item.String())
		}
		if dec.PeekKind() == ']' {
			return list
		}
	}
	f.addError(name, "invalid_type", "must be a list of strings")
	return nil
}
