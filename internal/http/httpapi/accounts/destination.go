package accounts

import (
	"net/http"

	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// destinationJSON is a destination that a phone sends to a car.
type destinationJSON struct {
	Lat    float64 `json:"lat"`
	Lng    float64 `json:"lng"`
	Name   string  `json:"name"`
	Detail string  `json:"detail"`
}

// putDestination answers PUT /v2/account/destination, with which a phone sends a destination to the account's cars.
func (a *api) putDestination(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return err
	}
	d := destinationIn(f)
	if err := f.Check(); err != nil {
		return err
	}
	if err := a.Accounts.SendDestination(r.Context(), c.ID(), d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postTakeDestination answers POST /v2/account/destination/take, with which a car takes the destination that a phone sent. A car
// gets each destination once.
func (a *api) postTakeDestination(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	answer := struct {
		Destination *destinationJSON `json:"destination"`
	}{}
	if d := a.Accounts.TakeDestination(r.Context(), c.ID()); d != nil {
		answer.Destination = &destinationJSON{Lat: d.Lat, Lng: d.Lng, Name: d.Name, Detail: d.Detail}
	}
	w.Header().Set("Cache-Control", httpapi.NoStore)
	return httpapi.WriteJSON(w, r, http.StatusOK, answer)
}

// destinationIn takes the fields of a destination.
func destinationIn(f *httpapi.Fields) *account.Destination {
	return &account.Destination{Lat: degrees(f, "lat"), Lng: degrees(f, "lng"), Name: f.OrEmpty("name"), Detail: f.OrEmpty("detail")}
}

// degrees takes a number that must be present.
func degrees(f *httpapi.Fields, name string) float64 {
	before := len(f.Errors)
	value := f.Number(name)
	if value == nil {
		if len(f.Errors) == before {
			f.AddError(name, "missing", "is required: degrees")
		}
		return 0
	}
	return *value
}
