package navigation

import (
	"context"
	"net/http"
	"strconv"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/traffic"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/http/httpapi"
	"wayside/internal/roads/graph"
)

// ExplainConditions describes the effects on roads of the entities around a place: those that a guest may read, and the account's
// own. nil: no region is served.
type ExplainConditions func(ctx context.Context, account mapdata.AccountID, area geo.Circle) (*traffic.Explanation, error)

// Bounds of an answer with conditions.
const (
	defaultConditionRadius = 5000 // metres
	maxListedArcs          = 2000 // of all conditions of one answer
)

// getConditions answers GET /v2/navigation/conditions with the closures, slower roads and delays near a place, or because of one
// entity (D15.17).
func (a *api) getConditions(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	p, err := httpapi.ParseParams(r)
	if err != nil {
		return err
	}
	area, id := geo.Circle{Radius: 1}, ""
	if id, _ = p.Value("entity"); id == "" {
		area = geo.Circle{Center: p.Point(), Radius: defaultConditionRadius}
		if p.Values.Has("radius") {
			area.Radius = p.Number("radius", 0, nearby.MaxRadius, false)
		}
	}
	if p.Problem != nil {
		return p.Problem
	}
	if id != "" {
		entity, err := a.Nearby.Entity(r.Context(), id, &nearby.Query{Account: c.ID(), Tier: c.Tier()})
		if err != nil {
			return err
		}
		area.Center = entity.Hit.Point
	}
	var explained *traffic.Explanation
	if a.Conditions != nil {
		if explained, err = a.Conditions(r.Context(), c.ID(), area); err != nil {
			return err
		}
	}
	status, body := http.StatusOK, []byte(nil)
	if explained == nil {
		status, body = http.StatusServiceUnavailable, osrm.AppendError(nil, nav.ErrNoRegion())
	} else {
		body = appendConditions(nil, explained, id, c.Account != nil)
	}
	w.Header()["Vary"] = []string{a.Vary()}
	w.Header()["Cache-Control"] = []string{httpapi.NoStore}
	response.Write(w, r, status, "application/json", body)
	return nil
}

// appendConditions appends an answer. Unless id is empty, it is about that entity alone; conditions that are not in force are only
// for accounts.
func appendConditions(dst []byte, x *traffic.Explanation, id string, account bool) []byte {
	dst = append(dst, `{"conditions":[`...)
	listed, left, truncated := 0, maxListedArcs, x.Truncated
	for _, c := range x.Conditions {
		if id != "" && c.EntityID != id || !c.Applies && !account {
			continue
		}
		if len(c.Arcs) > left {
			truncated = true
			break
		}
		left -= len(c.Arcs)
		dst = wire.AppendComma(dst, listed > 0)
		listed++
		dst = appendCondition(dst, x.Network, &c)
	}
	dst = append(dst, `],"truncated":`...)
	dst = strconv.AppendBool(dst, truncated)
	dst = append(dst, `,"metric_version":`...)
	dst = strconv.AppendUint(dst, x.Version, 10)
	return append(dst, "}\n"...)
}

func appendCondition(dst []byte, n *traffic.Network, c *traffic.Explained) []byte {
	dst = append(dst, `{"entity_id":`...)
	dst = wire.AppendString(dst, c.EntityID)
	dst = append(dst, `,"kind_id":"`...)
	dst = append(dst, c.Kind.ID()...)
	dst = append(dst, `","effect":"`...)
	dst = append(dst, c.Impact.Effect.String()...)
	dst = append(dst, `","factor":`...)
	dst = strconv.AppendFloat(dst, n.Factor(c.Condition), 'g', 4, 64)
	dst = append(dst, `,"delay_s":`...)
	dst = strconv.AppendFloat(dst, float64(c.Impact.Delay)/1000, 'f', -1, 64)
	dst = append(dst, `,"since":`...)
	dst = wire.AppendTime(dst, c.Since.UnixMilli())
	dst = append(dst, `,"in_force":`...)
	dst = strconv.AppendBool(dst, c.Applies)
	dst = append(dst, `,"arcs":[`...)
	for i, arc := range c.Arcs {
		shape := n.Shape(arc)
		dst = wire.AppendComma(dst, i > 0)
		dst = append(dst, `{"osm_way":`...)
		dst = strconv.AppendInt(dst, shape.OSMWay, 10)
		dst = append(dst, `,"geometry":{"type":"LineString","coordinates":[`...)
		dst = appendPositions(dst, shape.Line)
		dst = append(dst, `]},"length_m":`...)
		dst = strconv.AppendFloat(dst, shape.Length, 'f', 1, 64)
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

func appendPositions(dst []byte, line []graph.Position) []byte {
	for i, position := range line {
		dst = wire.AppendComma(dst, i > 0)
		dst = append(dst, '[')
		dst = strconv.AppendFloat(dst, float64(position.Lng)/1e7, 'f', -1, 64)
		dst = append(dst, ',')
		dst = strconv.AppendFloat(dst, float64(position.Lat)/1e7, 'f', -1, 64)
		dst = append(dst, ']')
	}
	return dst
}
