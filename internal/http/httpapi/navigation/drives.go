package navigation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/nav/session"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

// maxPositionBody bounds the body of a position, in bytes.
const maxPositionBody = 1 << 10

// postDrive answers POST /v2/navigation/sessions: it finds a route, and guides the driver along it from then on (D15.21).
func (a *api) postDrive(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	a.boundDrive(w, r, c)
	begin, err := readDrive(w, r)
	cost := 1
	if err == nil {
		cost = begin.request.Cost()
	}
	if limited := a.limitDrive(w, r, c, begin.resumes, cost); limited != nil {
		return limited
	}
	var seat *session.Seat
	if err == nil && a.Drives != nil {
		if seat, err = a.Drives.Reserve(a.driveCaller(c), cost); err == nil {
			defer seat.Release()
		}
	}
	if err == nil {
		if err := a.holdRoute(w, r, c, begin.request); err != nil {
			return err
		}
	}
	scratch := takeNavigationScratch()
	defer scratch.giveBack()
	if err == nil {
		err = a.answerInTime(r.Context(), c, begin.request, scratch, func(ctx context.Context, q *osrm.Request, s *navigationScratch) error {
			return a.openDrive(ctx, w, seat, q, begin.route, s)
		})
		if err == nil {
			a.countAnswer(c, begin.request, len(scratch.body))
		}
	}
	return a.writeDrive(w, r, http.StatusCreated, scratch.body, err)
}

// writeDrive writes the answer of a session, or the reason why there is none.
func (a *api) writeDrive(w http.ResponseWriter, r *http.Request, status int, body []byte, err error) error {
	if errors.Is(err, session.ErrFull) {
		return &httpapi.Problem{Type: "unavailable", Status: http.StatusServiceUnavailable, Detail: "This node leads as many drivers as it can. Try again later, or ask for routes.", RetryAfter: httpapi.UnavailableRetryAfter}
	}
	return a.writeNavigation(w, r, status, body, err)
}

// openDrive begins a session on one of the routes of a request, and writes the answer.
func (a *api) openDrive(ctx context.Context, w http.ResponseWriter, seat *session.Seat, q *osrm.Request, route int, s *navigationScratch) error {
	if a.Drives == nil {
		return &nav.Error{Code: nav.NotImplemented, Message: "This service finds routes by an engine of others, which leads no sessions. Ask for routes."}
	}
	request := q.RouteRequest()
	var found nav.RouteAnswer
	if err := a.Navigation.Route(ctx, request, &found); err != nil {
		return err
	}
	opened, err := a.Drives.Open(seat, request, &found, route, q.AppendOneRoute)
	if err != nil {
		return err
	}
	s.body = append(s.body, `{"code":"Ok","id":`...)
	s.body = wire.AppendString(s.body, opened.ID)
	s.body = append(s.body, `,"route":`...)
	s.body = q.AppendOneRoute(s.body, &found, route)
	s.body = append(s.body, `,"expires_after_s":`...)
	s.body = strconv.AppendInt(s.body, int64(session.Lifetime.Seconds()), 10)
	s.body = append(s.body, `,"data_version":`...)
	s.body = wire.AppendString(s.body, found.Network.DataVersion)
	s.body = append(s.body, "}\n"...)
	w.Header()["Location"] = []string{httpapi.DrivesPath + "/" + opened.ID}
	return nil
}

// driveBegin holds a client's options for a session.
type driveBegin struct {
	request *osrm.Request
	route   int    // which alternative is driven
	resumes string // id of a lost session; empty: none
}

// readDrive reads the options of a route, the alternative that is driven, and the id of the lost session that this one continues.
func readDrive(w http.ResponseWriter, r *http.Request) (begin driveBegin, err error) {
	body, err := readNavigationJSON(w, r)
	if err != nil {
		return begin, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return begin, &nav.Error{Code: nav.InvalidQuery, Message: "request body must be a JSON object"}
	}
	before := len(members)
	if value, ok := members["resumes"]; ok {
		if err := json.Unmarshal(value, &begin.resumes); err != nil || len(begin.resumes) > httpapi.MaxSessionID {
			return begin, &nav.Error{Code: nav.InvalidValue, Message: "resumes must be the id of a session"}
		}
		delete(members, "resumes")
	}
	if value, ok := members["route"]; ok {
		if err := json.Unmarshal(value, &begin.route); err != nil || begin.route < 0 || begin.route > nav.MaxAlternatives {
			return begin, &nav.Error{Code: nav.InvalidValue, Message: "route must be the number of an alternative: 0 to " + strconv.Itoa(nav.MaxAlternatives)}
		}
		delete(members, "route")
	}
	if len(members) < before {
		if body, err = json.Marshal(members); err != nil {
			return begin, &nav.Error{Code: nav.InvalidQuery, Message: "request body must be a JSON object"}
		}
	}
	begin.request, err = osrm.ParseBody(osrm.Route, body)
	return begin, err
}

// findDrive returns the session that a path names.
func (a *api) findDrive(r *http.Request) (*session.Session, error) {
	if a.Drives != nil {
		if s := a.Drives.Find(r.PathValue("id")); s != nil {
			return s, nil
		}
	}
	return nil, lostDrive()
}

// putDrivePosition answers PUT /v2/navigation/sessions/{id}/position with 204, or with 200 and another route if the driver left the
// way.
func (a *api) putDrivePosition(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	s, err := a.findDrive(r)
	if err != nil {
		return err
	}
	if d := s.Admit(); !d.OK { // what is refused is not read
		return &mapdata.LimitError{RetryAfter: d.RetryAfter, What: "positions"}
	}
	position, err := readPosition(w, r)
	if err != nil {
		return err
	}
	a.Votes.Seen(c.ID(), position.At)
	route, err := s.Position(r.Context(), position)
	switch {
	case err != nil:
		return a.writeDrive(w, r, http.StatusOK, nil, err)
	case route == nil:
		w.Header()["Cache-Control"] = []string{httpapi.NoStore}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	body := append([]byte(`{"code":"Ok","route":`), route...)
	return a.writeNavigation(w, r, http.StatusOK, append(body, "}\n"...), nil)
}

// readPosition reads the position of a client.
func readPosition(w http.ResponseWriter, r *http.Request) (session.Position, error) {
	f, err := httpapi.ReadFieldsUpTo(w, r, maxPositionBody)
	if err != nil {
		return session.Position{}, err
	}
	p := session.Position{Heading: -1}
	within := func(name string, least, most, absent float64) float64 {
		v := f.Number(name)
		if v == nil {
			return absent
		}
		if *v < least || *v > most {
			f.AddError(name, "out_of_range", fmt.Sprintf("must be from %g to %g", least, most))
		}
		return *v
	}
	absent := math.Inf(1)
	p.At = geo.Point{Lat: within("lat", -90, 90, absent), Lng: within("lng", -180, 180, absent)}
	if len(f.Errors) == 0 && (p.At.Lat == absent || p.At.Lng == absent) {
		f.AddError("lat", "missing", "lat and lng are required")
	}
	p.Heading = within("heading", 0, 360, p.Heading)
	within("speed", 0, httpapi.MaxSpeed, 0) // it is checked, but not used yet
	return p, f.Check()
}

// deleteDrive answers DELETE /v2/navigation/sessions/{id}.
func (a *api) deleteDrive(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	if a.Drives == nil || !a.Drives.Close(r.PathValue("id")) {
		_, err := a.findDrive(r)
		return err
	}
	w.Header()["Cache-Control"] = []string{httpapi.NoStore}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
