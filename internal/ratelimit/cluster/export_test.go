package cluster

import "context"

// Settle tells all that was granted, as Run does.
func (b *Buckets) Settle(ctx context.Context) { b.settle(ctx) }
