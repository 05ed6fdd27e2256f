package nav

import (
	"context"
	"slices"

	"wayside/internal/roads/graph"
)

// Incident is the effect of an entity on a stretch of a leg.
type Incident struct {
	Event                // its Factor is that of the arc that is slowed most
	First, Last int      // positions Locations[First:Last+1] of the leg
	Length      float64  // metres of the leg
	Roads       []string // the distinct names of the roads
}

const (
	// maxIncidents bounds the incidents of a leg: the first ones along the way are listed.
	maxIncidents = 100
	// maxRoads bounds the names of an incident's roads.
	maxRoads = 10
)

// note collects the entities on a route, and its warnings.
func (n *Network) note(r *Route) {
	var ferry, local, avoided bool
	var driven Driven
	var on *idSet // created with the first condition, because most routes have none
	for i := range r.Legs {
		leg := &r.Legs[i]
		for k := range leg.Parts {
			part := &leg.Parts[k]
			flags := n.Graph.Arcs[part.Arc].Flags
			ferry, local = ferry || flags&graph.Ferry != 0, local || flags&graph.LocalOnly != 0
			if _, is := n.avoided[part.Arc]; is {
				avoided = true
			}
			if c, ok := n.condition(part.Arc); ok {
				if c.Closed && k > 0 && k < len(leg.Parts)-1 && part.From == 0 && part.To == 1 {
					driven.Closures = append(driven.Closures, n.closure(n.Graph.Arcs[part.Arc].CopyOf))
				} else {
					driven.EndsOnClosed = driven.EndsOnClosed || c.Closed
				}
				if on == nil {
					on = new(idSet)
				}
				n.noteEvents(leg, part, on)
			}
		}
	}
	if on != nil {
		r.Conditions = on.ids
	}
	r.Warnings = driven.Warnings()
	for _, w := range []struct {
		holds bool
		text  string
	}{
		{avoided, "The route begins, passes a waypoint or ends on a road that it should avoid."},
		{ferry, "The route takes a ferry."},
		{local, "The route uses a road that is open to local traffic only."},
	} {
		if w.holds {
			r.Warnings = append(r.Warnings, w.text)
		}
	}
}

// noteEvents adds the entities on a part of a leg.
func (n *Network) noteEvents(leg *Leg, p *Part, on *idSet) {
	n.Conditions.Events(p.Arc, func(e Event) {
		on.add(e.EntityID)
		at := slices.IndexFunc(leg.Incidents, func(i Incident) bool { return i.EntityID == e.EntityID && i.Last == p.First })
		if at < 0 {
			if len(leg.Incidents) == maxIncidents {
				return
			}
			at = len(leg.Incidents)
			leg.Incidents = append(leg.Incidents, Incident{Event: e, First: p.First})
		}
		i := &leg.Incidents[at]
		i.Last, i.Factor = p.Last, min(i.Factor, e.Factor)
		i.Length += n.Length(p)
		if name := n.NameOf(n.Graph.Arcs[p.Arc].Piece); name != "" && len(i.Roads) < maxRoads && !slices.Contains(i.Roads, name) {
			i.Roads = append(i.Roads, name)
		}
	})
}

// findAvoided determines which entities would be on the way if there were no conditions.
func (n *Network) findAvoided(ctx context.Context, q *RouteRequest, a *RouteAnswer) error {
	if n.Conditions == nil || n.Conditions.None() {
		return nil
	}
	free := *n
	free.Conditions = nil
	without, err := free.chain(ctx, a.Spots, &Query{Exclude: q.Exclude, Free: true}, q.Straight != TurnsAllowed)
	if err != nil {
		return err
	}
	var met idSet
	for i := range without {
		for _, arc := range without[i].arcs {
			n.Conditions.Events(arc, func(e Event) { met.add(e.EntityID) })
		}
	}
	if len(met.ids) == 0 {
		return nil
	}
	for i := range a.Routes {
		r := &a.Routes[i]
		var on idSet
		for _, id := range r.Conditions {
			on.add(id)
		}
		for _, id := range met.ids {
			if !on.has(id) {
				r.Avoided = append(r.Avoided, id)
			}
		}
	}
	return nil
}

// idSet is a set of ids in order of insertion.
type idSet struct {
	ids   []string
	known map[string]struct{} // nil while there are few
}

// maxComparedIDs is how many ids are compared one by one.
const maxComparedIDs = 16

func (s *idSet) has(id string) bool {
	if s.known == nil {
		return slices.Contains(s.ids, id)
	}
	_, ok := s.known[id]
	return ok
}

func (s *idSet) add(id string) {
	if s.has(id) {
		return
	}
	s.ids = append(s.ids, id)
	if s.known == nil && len(s.ids) > maxComparedIDs {
		s.known = make(map[string]struct{}, 2*len(s.ids))
		for _, known := range s.ids {
			s.known[known] = struct{}{}
		}
	}
	if s.known != nil {
		s.known[id] = struct{}{}
	}
}
