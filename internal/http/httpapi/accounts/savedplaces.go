package accounts

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// maxPlacesBytes bounds a body of places: twelve with texts of 200 characters, in escapes.
const maxPlacesBytes = 64 << 10

// placesJSON contains only the places that are set.
type placesJSON struct {
	Home   *destinationJSON  `json:"home,omitempty"`
	Work   *destinationJSON  `json:"work,omitempty"`
	Recent []destinationJSON `json:"recent"`
}

type placesAnswer struct {
	Places *placesJSON `json:"places"`
}

func newPlacesJSON(p *account.SavedPlaces) *placesJSON {
	if p == nil {
		return nil
	}
	out := &placesJSON{Home: (*destinationJSON)(p.Home), Work: (*destinationJSON)(p.Work), Recent: make([]destinationJSON, len(p.Recent))}
	for i, d := range p.Recent {
		out.Recent[i] = destinationJSON(d)
	}
	return out
}

// getSavedPlaces answers GET /v2/account/places; null means that the driver stores none in the account.
func (a *api) getSavedPlaces(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	p, err := a.Accounts.SavedPlaces(r.Context(), c.ID())
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, placesAnswer{newPlacesJSON(p)})
}

// putSavedPlaces answers PUT /v2/account/places, which replaces all of them; from then on the account stores places. A paired
// screen removes one at most (D11.3).
func (a *api) putSavedPlaces(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFieldsUpTo(w, r, maxPlacesBytes)
	if err != nil {
		return err
	}
	p := &account.SavedPlaces{Home: placeIn(f, "home"), Work: placeIn(f, "work"), Recent: placesIn(f, "recent")}
	if err := f.Check(); err != nil {
		return err
	}
	set := a.Accounts.SetSavedPlaces
	if c.Session.Scope == mapdata.ScopeScreen {
		set = a.Accounts.ChangeSavedPlaces
	}
	if err := set(r.Context(), c.ID(), p); err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, placesAnswer{newPlacesJSON(p)})
}

// deleteSavedPlaces answers DELETE /v2/account/places.
func (a *api) deleteSavedPlaces(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	if err := a.Accounts.DeleteSavedPlaces(r.Context(), c.ID()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// placeIn takes a destination; nil: absent.
func placeIn(f *httpapi.Fields, name string) *account.Destination {
	value, ok := f.Take(name)
	if !ok {
		return nil
	}
	return destinationOf(f, name, value)
}

// placesIn takes a list of destinations.
func placesIn(f *httpapi.Fields, name string) []account.Destination {
	list := []account.Destination{}
	value, ok := f.Take(name)
	if !ok {
		return list
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '[' {
		f.AddError(name, "invalid_type", "must be a list of objects")
		return list
	}
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		if err != nil {
			break
		}
		if d := destinationOf(f, name+"["+strconv.Itoa(len(list))+"]", item); d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// destinationOf reads an object of a destination. Errors name its fields as "home.lat".
func destinationOf(f *httpapi.Fields, name string, value jsontext.Value) *account.Destination {
	in := &httpapi.Fields{Members: make(map[string]jsontext.Value)}
	if value.Kind() != '{' || in.Decode(jsontext.NewDecoder(bytes.NewReader(value))) != nil {
		f.AddError(name, "invalid_type", "must be an object")
		return nil
	}
	d := destinationIn(in)
	var invalid *mapdata.InvalidError
	if errors.As(in.Check(), &invalid) {
		for _, e := range invalid.Fields {
			f.AddError(name+"."+e.Field, e.Code, e.Message)
		}
	}
	return d
}
