package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wayside/internal/drive/traffic"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console"
)

// streetsNamed is how many street names the page of a feed shows for an entity.
const streetsNamed = 3

// effectsOf returns the effects on roads of the entities of a feed that the account may read, those nearest to the middle of the
// region; nil: no region is served, or the account may not read the feed.
func (r *roads) effectsOf(ctx context.Context, account mapdata.AccountID, feed mapdata.FeedID) (*console.RoadEffects, error) {
	c := r.current.Load()
	if c == nil {
		return nil, nil //nolint:nilnil // there is no region, which is no error
	}
	of := reader{current: r.reader, account: account, sources: []string{string(feed.SourceID())}}
	b := c.region.Bounds
	area := geo.Box{West: b[0], South: b[1], East: b[2], North: b[3]}.Circle()
	x, err := c.traffic.Explain(ctx, of, c.follow.State(), area, conditionsRead, r.now())
	if unknown := new(nearby.UnknownSourcesError); errors.As(err, &unknown) {
		return nil, nil //nolint:nilnil // a curator's view of a feed that is not public
	}
	if err != nil {
		return nil, fmt.Errorf("read conditions: %w", err)
	}
	slices.SortStableFunc(x.Conditions, func(a, b traffic.Explained) int { return cmp.Compare(a.Impact.Effect, b.Impact.Effect) })
	effects := &console.RoadEffects{More: x.Truncated || len(x.Conditions) > console.MaxRoadEffects, Unmatched: x.Unmatched}
	for _, e := range x.Conditions[:min(len(x.Conditions), console.MaxRoadEffects)] {
		_, external, _ := mapdata.ParseEntityID(e.EntityID)
		where := x.Network.Stretch(e.Condition, streetsNamed)
		effects.List = append(effects.List, console.RoadEffect{
			EntityID: e.EntityID, ExternalID: external, KindID: e.Kind.ID(), Effect: e.Impact.Effect.String(), Speed: x.Network.Factor(e.Condition),
			Delay: time.Duration(e.Impact.Delay) * time.Millisecond, Streets: where.Streets, Metres: where.Length, Both: where.Both, InForce: e.Applies,
		})
	}
	return effects, nil
}
