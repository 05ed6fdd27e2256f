package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
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
func (a *api) getSavedPlaces(w http.ResponseWriter, r *http.Request, c *caller) error {
	p, err := a.Accounts.SavedPlaces(r.Context(), c.id())
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, placesAnswer{newPlacesJSON(p)})
}

// putSavedPlaces answers PUT /v2/account/places, which replaces all of them; from then on the account stores places. A paired
// screen removes one at most (D11.3).
func (a *api) putSavedPlaces(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFieldsUpTo(w, r, maxPlacesBytes)
	if err != nil {
		return err
	}
	p := &account.SavedPlaces{Home: f.place("home"), Work: f.place("work"), Recent: f.places("recent")}
	if err := f.check(); err != nil {
		return err
	}
	set := a.Accounts.SetSavedPlaces
	if c.session.Scope == mapdata.ScopeScreen {
		set = a.Accounts.ChangeSavedPlaces
	}
	if err := set(r.Context(), c.id(), p); err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusOK, placesAnswer{newPlacesJSON(p)})
}

// deleteSavedPlaces answers DELETE /v2/account/places.
func (a *api) deleteSavedPlaces(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.Accounts.DeleteSavedPlaces(r.Context(), c.id()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// place takes a destination; nil: absent.
func (f *requestFields) place(name string) *account.Destination {
	value, ok := f.take(name)
	if !ok {
		return nil
	}
	return f.destinationOf(name, value)
}

// places takes a list of destinations.
func (f *requestFields) places(name string) []account.Destination {
	list := []account.Destination{}
	value, ok := f.take(name)
	if !ok {
		return list
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '[' {
		f.addError(name, "invalid_type", "must be a list of objects")
		return list
	}
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		if err != nil {
			break
		}
		if d := f.destinationOf(name+"["+strconv.Itoa(len(list))+"]", item); d != nil {
			list = append(list, *d)
		}
	}
	return list
}

// destinationOf reads an object of a destination. Errors name its fields as "home.lat".
func (f *requestFields) destinationOf(name string, value jsontext.Value) *account.Destination {
	in := &requestFields{members: make(map[string]jsontext.Value)}
	if value.Kind() != '{' || in.decode(jsontext.NewDecoder(bytes.NewReader(value))) != nil {
		f.addError(name, "invalid_type", "must be an object")
		return nil
	}
	d := in.destination()
	var invalid *mapdata.InvalidError
	if errors.As(in.check(), &invalid) {
		for _, e := range invalid.Fields {
			f.addError(name+"."+e.Field, e.Code, e.Message)
		}
	}
	return d
}
