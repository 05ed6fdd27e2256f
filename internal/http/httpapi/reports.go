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
func (a *api) postReport(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFieldsUpTo(w, r, maxReportBytes)
	if err != nil {
		return err
	}
	request := &drivers.Request{Account: c.id(), Kind: f.required("kind"), Heading: f.number("heading")}
	request.Lat, _ = f.take("lat")
	request.Lng, _ = f.take("lng")
	request.Observed, _ = f.take("observed_at")
	if err := f.check(); err != nil {
		return mergeFieldErrors(err, a.Reports.Check(request))
	}
	outcome, err := a.Reports.Report(r.Context(), request)
	if err != nil {
		return err
	}
	a.followVote(w, r)
	hit := a.Nearby.Shown(&outcome.Voted, outcome.Feed, &nearby.Query{Account: c.id(), Tier: c.tier(), Curator: c.isCurator()})
	answer := map[string]any{"entity": entityJSON(&hit), "waits": outcome.Voted.Tally.Waits()}
	if !outcome.Counted {
		return writeJSON(w, r, http.StatusCreated, answer)
	}
	answer["counted_as"], answer["renewed"] = "confirm", outcome.Renewed
	return writeJSON(w, r, http.StatusOK, answer)
}

// deleteReport answers DELETE /v2/reports/{id}, with which its author takes a report back (D17.37).
func (a *api) deleteReport(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := a.Reports.Retract(r.Context(), r.PathValue("id"), c.id()); err != nil {
		return err
	}
	a.followVote(w, r)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
