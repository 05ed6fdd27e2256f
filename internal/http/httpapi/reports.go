package httpapi

import (
	"net/http"

	"wayside/internal/entities/nearby"
	"wayside/internal/feeds/provider/drivers"
)

const (
	reportsPath    = "/v2/reports"
	maxReportBytes = 4 << 10
)

// postReport answers POST /v2/reports with the entity that a driver reported (D17.35).
func (a *API) postReport(w http.ResponseWriter, r *http.Request, c *Caller) error {
	f, err := ReadFieldsUpTo(w, r, maxReportBytes)
	if err != nil {
		return err
	}
	request := &drivers.Request{Account: c.ID(), Kind: f.Required("kind"), Heading: f.Number("heading")}
	request.Lat, _ = f.Take("lat")
	request.Lng, _ = f.Take("lng")
	request.Observed, _ = f.Take("observed_at")
	if err := f.Check(); err != nil {
		return MergeFieldErrors(err, a.Reports.Check(request))
	}
	outcome, err := a.Reports.Report(r.Context(), request)
	if err != nil {
		return err
	}
	a.FollowVote(w, r)
	hit := a.Nearby.Shown(&outcome.Voted, outcome.Feed, &nearby.Query{Account: c.ID(), Tier: c.Tier(), Curator: c.IsCurator()})
	answer := map[string]any{"entity": entityJSON(&hit), "waits": outcome.Voted.Tally.Waits()}
	if !outcome.Counted {
		return WriteJSON(w, r, http.StatusCreated, answer)
	}
	answer["counted_as"], answer["renewed"] = "confirm", outcome.Renewed
	return WriteJSON(w, r, http.StatusOK, answer)
}

// deleteReport answers DELETE /v2/reports/{id}, with which its author takes a report back (D17.37).
func (a *API) deleteReport(w http.ResponseWriter, r *http.Request, c *Caller) error {
	if err := a.Reports.Retract(r.Context(), r.PathValue("id"), c.ID()); err != nil {
		return err
	}
	a.FollowVote(w, r)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
