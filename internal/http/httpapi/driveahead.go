package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"wayside/internal/drive/alerts"
)

const (
	aheadTimeout   = time.Second             // for another node to return the way ahead: alerts do without it
	aheadDistance  = 2 * alerts.DetourRange  // metres of the way that are returned: alerts look half as far, and the car may have driven on since its last position
	maxAheadArcs   = 4096                    // of that way
	maxAheadAnswer = 64*maxAheadArcs + 1<<10 // bytes
)

// aheadJSON is the way ahead of a drive, between nodes: arcs, and the share of each that is on the way.
type aheadJSON struct {
	DataVersion string    `json:"data_version"`
	Arcs        []uint32  `json:"arcs"`
	From        []float64 `json:"from"`
	To          []float64 `json:"to"`
}

// wayAhead is the way ahead of a session.
type wayAhead struct {
	dataVersion string                                              // of the roads that have its arcs
	route       func(yield func(arc uint32, from, to float64) bool) // nil: there is no such session
}

// routeAhead returns the way ahead of a session, which another node may have. client is the address of the client.
func (a *api) routeAhead(ctx context.Context, id, client string) (way wayAhead) {
	if id == "" || a.Drives == nil {
		return way
	}
	if drive := a.Drives.Find(id); drive != nil {
		way.dataVersion, way.route = drive.Ahead()
		return way
	}
	owner, ok := a.Drives.Owner(id)
	if !ok || a.Nodes == nil || !a.forwards.begin() {
		return way
	}
	defer a.forwards.end()
	ctx, cancel := context.WithTimeout(ctx, aheadTimeout)
	defer cancel()
	resp, err := a.Nodes.Ask(ctx, owner, http.MethodGet, aheadPath+id, http.Header{clientHeader: {client}}, nil, false)
	if err != nil {
		return way
	}
	defer func() { _ = resp.Body.Close() }() // read only
	var answer aheadJSON
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxAheadAnswer)).Decode(&answer) != nil || len(answer.From) != len(answer.Arcs) || len(answer.To) != len(answer.Arcs) {
		return way
	}
	return wayAhead{answer.DataVersion, func(yield func(arc uint32, from, to float64) bool) {
		for i, arc := range answer.Arcs {
			if !yield(arc, answer.From[i], answer.To[i]) {
				return
			}
		}
	}}
}

// getAhead answers another node's request for the way ahead of a session.
func (a *api) getAhead(w http.ResponseWriter, r *http.Request, _ *caller) error {
	s, err := a.findDrive(r)
	if err != nil {
		return err
	}
	n, err := a.Navigation.Current()
	if err != nil {
		return err
	}
	defer n.Release()
	version, route := s.Ahead()
	answer := aheadJSON{DataVersion: version, Arcs: []uint32{}, From: []float64{}, To: []float64{}}
	if version == n.DataVersion {
		left := float64(aheadDistance)
		route(func(arc uint32, from, to float64) bool {
			answer.Arcs, answer.From, answer.To = append(answer.Arcs, arc), append(answer.From, from), append(answer.To, to)
			left -= (to - from) * float64(n.Graph.Pieces[n.Graph.Arcs[arc].Piece].Length) / 1000
			return left > 0 && len(answer.Arcs) < maxAheadArcs
		})
	}
	return writeJSON(w, r, http.StatusOK, answer)
}
