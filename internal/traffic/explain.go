package traffic

import (
	"context"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Explain reads what the entities around a place do to roads, nearest first, and whether there are more. What the reader sees
// beyond a guest is not in force, which is for the caller to compare with the State.
func (n *Network) Explain(ctx context.Context, r Reader, area geo.Circle, limit int, now time.Time) (conditions []*Condition, more bool, err error) {
	more, err = r.Read(ctx, area, nil, n.rules.all(), limit, func(h *mapdata.Hit) {
		if c := n.conditionOf(h, now); c != nil && c.InForce {
			conditions = append(conditions, c)
		}
	})
	return conditions, more, err
}
