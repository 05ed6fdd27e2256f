package httpapi

import (
	"net/http"

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
func (a *api) putDestination(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFields(w, r)
	if err != nil {
		return err
	}
	d := f.destination()
	if err := f.check(); err != nil {
		return err
	}
	if err := a.Accounts.SendDestination(r.Context(), c.id(), d); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// postTakeDestination answers POST /v2/account/destination/take, with which a car takes the destination that a phone sent. A car
// gets each destination once.
func (a *api) postTakeDestination(w http.ResponseWriter, r *http.Request, c *caller) error {
	answer := struct {
		Destination *destinationJSON `json:"destination"`
	}{}
	if d := a.Accounts.TakeDestination(r.Context(), c.id()); d != nil {
		answer.Destination = &destinationJSON{Lat: d.Lat, Lng: d.Lng, Name: d.Name, Detail: d.Detail}
	}
	w.Header().Set("Cache-Control", noStore)
	return writeJSON(w, r, http.StatusOK, answer)
}

// destination takes the fields of a destination.
func (f *requestFields) destination() *account.Destination {
	return &account.Destination{Lat: f.degrees("lat"), Lng: f.degrees("lng"), Name: f.orEmpty("name"), Detail: f.orEmpty("detail")}
}

// degrees takes a number that must be present.
func (f *requestFields) degrees(name string) float64 {
	before := len(f.errors)
	value := f.number(name)
	if value == nil {
		if len(f.errors) == before {
			f.addError(name, "missing", "is required: degrees")
		}
		return 0
	}
	return *value
}
