package httpapi

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/account"
	"wayside/internal/mapdata"
)

// preferencesLimit is the size in bytes of the largest choice.
const preferencesLimit = 8 << 10

// preferencesJSON holds what was chosen, and nothing else.
type preferencesJSON struct {
	Units      *string  `json:"units,omitempty"`
	Theme      *string  `json:"theme,omitempty"`
	Language   *string  `json:"language,omitempty"`
	Density    *float64 `json:"density,omitempty"`
	Tones      *bool    `json:"tones,omitempty"`
	Lead       *float64 `json:"lead,omitempty"`
	SourcesOff []string `json:"sources_off,omitzero"` // an empty list is a choice
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

// putPreferences answers PUT /v2/account/preferences: what is left out is chosen no more.
func (a *api) putPreferences(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFieldsUpTo(w, r, preferencesLimit)
	if err != nil {
		return err
	}
	p := &mapdata.Preferences{
		Units: f.optional("units"), Theme: f.optional("theme"), Language: f.optional("language"),
		Density: f.number("density"), Tones: f.boolean("tones"), Lead: f.number("lead"),
		SourcesOff: f.texts("sources_off"), KindsOff: f.texts("kinds_off"), Networks: f.texts("networks"),
	}
	if err := f.done(); err != nil {
		return alsoWrong(err, account.CheckPreferences(p))
	}
	if err := a.Accounts.SetPreferences(r.Context(), c.id(), p); err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, preferencesAnswer{preferencesJSON(*p)})
}

// texts is a list of strings, or absent: nil.
func (f *fields) texts(name string) []string {
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
	f.blame(name, "invalid_type", "must be a list of strings")
	return nil
}
