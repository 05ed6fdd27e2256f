package nav

import (
	"context"
	"slices"

	"wayside/internal/roads/graph"
)

// Conditions for an alternative: it weighs at most a quarter more than the best path, shares at most four fifths with
// the paths found before, and no stretch of it up to a tenth of the best path has a better way.
const (
	maxStretch = 1.25
	maxShared  = 0.8
	localShare = 0.1
	penalty    = 1.5 // factor for the arcs of the paths found before, for each attempt
	attempts   = 4   // for each wanted alternative
)

// Alternatives returns the best path, and others that a driver would call different. It searches them with higher
// weights for the paths found before, and judges them by the true weights.
func (p *Plain) Alternatives(ctx context.Context, q *Query, count int) ([]graph.Path, error) {
	best, found, err := p.Route(ctx, q)
	if !found || err != nil {
		return nil, err
	}
	paths := []graph.Path{best}
	err = p.search(ctx, func(t *tree) error {
		weights := p.metric(q.Exclude, q.Free)
		dearer := slices.Clone(weights)
		last := best
		for range attempts * count {
			if len(paths) > count {
				return nil
			}
			for _, arc := range last.Arcs {
				if dearer[arc] < graph.Closed/2 {
					dearer[arc] = uint32(float64(dearer[arc]) * penalty)
				}
			}
			t.aim(q.To)
			if err := t.grow(ctx, dearer, q.From, unreached); err != nil {
				return err
			}
			if t.found[0].weight == unreached {
				return nil
			}
			last = t.path(0)
			last.Weight = p.weigh(last.Arcs, weights, q)
			if float64(last.Weight) > maxStretch*float64(best.Weight) || p.isShared(last.Arcs, paths, weights) {
				continue
			}
			optimal, err := p.isLocallyOptimal(ctx, t, last.Arcs, weights, uint64(localShare*float64(best.Weight)))
			if err != nil {
				return err
			}
			if optimal {
				paths = append(paths, last)
			}
		}
		return nil
	})
	slices.SortStableFunc(paths[1:], func(a, b graph.Path) int { return int(int64(a.Weight) - int64(b.Weight)) })
	return paths, err
}

// weigh returns the weight of a path, including the costs of its ends.
func (p *Plain) weigh(arcs []uint32, weights []uint32, q *Query) uint64 {
	cost := func(ends []graph.End, arc uint32) uint64 {
		least := unreached
		for _, end := range ends {
			if end.Arc == arc {
				least = min(least, uint64(end.Cost))
			}
		}
		return least
	}
	return cost(q.From, arcs[0]) + p.between(arcs, weights) + cost(q.To, arcs[len(arcs)-1])
}

// between returns the weight from the end of the first arc to the beginning of the last one.
func (p *Plain) between(arcs []uint32, weights []uint32) uint64 {
	r := Roads{Graph: p.graph}
	var sum uint64
	for i := 1; i < len(arcs); i++ {
		sum += uint64(r.turn(arcs[i-1], arcs[i]).Weight)
		if i < len(arcs)-1 {
			sum += uint64(weights[arcs[i]])
		}
	}
	return sum
}

// isShared reports whether a path shares too much with others. Copies of an arc count as one road.
func (p *Plain) isShared(arcs []uint32, paths []graph.Path, weights []uint32) bool {
	used := make(map[uint32]bool)
	for i := range paths {
		for _, arc := range paths[i].Arcs {
			used[p.graph.Arcs[arc].CopyOf] = true
		}
	}
	var all, shared uint64
	for _, arc := range arcs[1 : len(arcs)-1] {
		weight := uint64(weights[arc])
		all += weight
		if used[p.graph.Arcs[arc].CopyOf] {
			shared += weight
		}
	}
	return float64(shared) >= maxShared*float64(all)
}

// isLocallyOptimal reports whether no stretch of a path up to the weight of window has a better way. It checks
// overlapping stretches.
func (p *Plain) isLocallyOptimal(ctx context.Context, t *tree, arcs []uint32, weights []uint32, window uint64) (bool, error) {
	for begin := 0; begin < len(arcs)-1; {
		end := begin + 1
		for end < len(arcs)-1 && p.between(arcs[begin:end+2], weights) <= window {
			end++
		}
		t.aim([]graph.End{{Arc: arcs[end]}})
		if err := t.grow(ctx, weights, t.one(graph.End{Arc: arcs[begin]}), unreached); err != nil {
			return false, err
		}
		if t.found[0].weight < p.between(arcs[begin:end+1], weights) {
			return false, nil
		}
		begin = (begin + end + 1) / 2
		if end == len(arcs)-1 {
			break
		}
	}
	return true, nil
}
