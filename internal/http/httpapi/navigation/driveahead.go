package navigation

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"wayside/internal/drive/alerts"
	"wayside/internal/drive/nav/session"
	"wayside/internal/http/httpapi"
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

// Ways finds the way ahead of the sessions of drivers, which other nodes may have.
type Ways struct {
	drives   *session.Hub // nil: there are no sessions
	nodes    Nodes        // nil: there are no others
	forwards forwards
}

// NewWays returns the ways of the sessions of this node and of others.
func NewWays(drives *session.Hub, nodes Nodes) *Ways { return &Ways{drives: drives, nodes: nodes} }

// Ahead returns the way ahead of a session, and the version of the roads that have its arcs; nil: there is no such session. client is
// the address of the client.
func (s *Ways) Ahead(ctx context.Context, id, client string) (dataVersion string, route func(yield func(arc uint32, from, to float64) bool)) {
	if id == "" || s.drives == nil {
		return "", nil
	}
	if drive := s.drives.Find(id); drive != nil {
		return drive.Ahead()
	}
	owner, ok := s.drives.Owner(id)
	if !ok || s.nodes == nil || !s.forwards.begin() {
		return "", nil
	}
	defer s.forwards.end()
	ctx, cancel := context.WithTimeout(ctx, aheadTimeout)
	defer cancel()
	resp, err := s.nodes.Ask(ctx, owner, http.MethodGet, aheadPath+id, http.Header{httpapi.ClientHeader: {client}}, nil, false)
	if err != nil {
		return "", nil
	}
	defer func() { _ = resp.Body.Close() }() // read only
	var answer aheadJSON
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxAheadAnswer)).Decode(&answer) != nil || len(answer.From) != len(answer.Arcs) || len(answer.To) != len(answer.Arcs) {
		return "", nil
	}
	return answer.DataVersion, func(yield func(arc uint32, from, to float64) bool) {
		for i, arc := range answer.Arcs {
			if !yield(arc, answer.From[i], answer.To[i]) {
				return
			}
		}
	}
}

// getAhead answers another node's request for the way ahead of a session.
func (a *api) getAhead(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
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
	return httpapi.WriteJSON(w, r, http.StatusOK, answer)
}
