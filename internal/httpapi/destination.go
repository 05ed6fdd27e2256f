package httpapi

import (
	"net/http"

	"wayside/internal/account"
)

// destinationJSON is where a phone sends a car.
type destinationJSON struct {
	Lat    float64 `json:"lat"`
	Lng    float64 `json:"lng"`
	Name   string  `json:"name"`
	Detail string  `json:"detail"`
}

// putDestination answers PUT /v2/account/destination: a phone sends a destination to the account's cars.
func (a *api) putDestination(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	lat, lng := f.number("lat"), f.number("lng")
	if lat == nil {
		f.addError("lat", "missing", "is required: degrees north")
	}
	if lng == nil {
		f.addError("lng", "missing", "is required: degrees east")
	}
	name, detail := f.optional("name"), f.optional("detail")
	if err := f.check(); err != nil {
		return err
	}
	d := &account.Destination{Lat: *lat, Lng: *lng}
	if name != nil {
		d.Name = *name
	}
	if detail != nil {
		d.Detail = *detail
	}
	if err := a.Accounts.SendDestination(r.Context(), c.id(), d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postTakeDestination answers POST /v2/account/destination/take: a car asks for what a phone sent, and gets it once.
func (a *api) postTakeDestination(w http.ResponseWriter, r *http.Request, c *caller) error {
	answer := struct {
		Destination *destinationJSON `json:"destination"`
	}{}
	if d := a.Accounts.TakeDestination(c.id()); d != nil {
		answer.Destination = &destinationJSON{Lat: d.Lat, Lng: d.Lng, Name: d.Name, Detail: d.Detail}
	}
	w.Header().Set("Cache-Control", noStore)
	return writeJSON(w, r, http.StatusOK, answer)
}
