package cluster

import "context"

// Settle settles all granted units, as Run does.
func (b *Buckets) Settle(ctx context.Context) { b.settle(ctx) }
