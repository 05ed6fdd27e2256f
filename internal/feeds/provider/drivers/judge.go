package drivers

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// maxHeading is the largest heading in degrees.
const maxHeading = 360

// Check fails as Report does for invalid members of a request.
func (s *Service) Check(q *Request) error {
	_, err := s.judge(q, s.Now())
	return err
}

// judge converts a request to a row, which ingest judges, or fails with an *mapdata.InvalidError.
func (s *Service) judge(q *Request, now time.Time) (*report, error) {
	var bad mapdata.FieldErrors
	kind, known := mapdata.ParseKind(q.Kind)
	if !known || !mapdata.ReportKinds().Has(kind) {
		bad.Add("kind", "unknown_kind", "is none that drivers report: alerts and traffic.jam")
		kind = mapdata.Hazard() // the other members are judged too
	}
	if q.Heading != nil && !(*q.Heading >= 0 && *q.Heading <= maxHeading) {
		bad.Add("heading", "invalid_heading", "must be a number from 0 to 360")
		q.Heading = nil
	}
	batch, err := decode(q, kind, newID(), nil, now)
	if err != nil {
		return nil, err
	}
	for _, e := range batch.Report().Errors {
		bad.Add(e.Field, e.Code, e.Message)
	}
	r := &report{account: q.Account, batch: batch}
	for _, row := range batch.All() {
		r.row = row
		if !row.ObservedAt.IsZero() && row.ObservedAt.Before(now.Add(-mapdata.ReportObservedWithin)) {
			bad.Add("observed_at", "too_old", "lies more than 10 minutes in the past")
		}
		if len(bad) == 0 && s.Nearby.HiddenByLaw(row.Point, row.Kind) {
			bad.Add("kind", "hidden_by_law", "must not be shown at this place")
		}
	}
	return r, bad.Err()
}

// name adds the name of the street to a report that was judged. A report whose street has no name, or one that a row cannot have, stays
// as it is.
func (s *Service) name(ctx context.Context, q *Request, r *report, now time.Time) {
	if s.Street == nil {
		return
	}
	street := s.Street(ctx, r.row.Point, q.Heading)
	if street == "" {
		return
	}
	text, err := jsontext.AppendQuote(nil, street)
	if err != nil {
		return // it is not valid UTF-8
	}
	named, err := decode(q, r.row.Kind, r.row.ExternalID, text, now)
	if err != nil || len(named.Report().Errors) > 0 {
		return
	}
	for _, row := range named.All() {
		r.batch, r.row = named, row
	}
}

// decode returns the batch of a request, whose street may be known.
func decode(q *Request, kind mapdata.Kind, id string, street []byte, now time.Time) (*ingest.Batch, error) {
	return ingest.DecodeReport(&ingest.DriverReport{
		ExternalID: id, Kind: kind, Lat: q.Lat, Lng: q.Lng, Observed: q.Observed, Bearing: q.Heading, Street: street,
		Lifetime: mapdata.ReportLifetime(kind),
	}, now)
}
