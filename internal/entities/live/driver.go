package live

import (
	"context"
	"time"
)

// Driver stores small values for a while, in a shared cache or in this process's memory. Values are never empty, and a
// driver may lose one before it expires, as caches do.
type Driver interface {
	// Get returns the values of the keys in their order, nil for an absent or expired one. Callers must not change
	// values, and returned values do not change.
	Get(ctx context.Context, keys []string) ([][]byte, error)
	// Swap stores value under key for ttl, a millisecond or more, if the key's current value is exactly old (nil:
	// none), and reports whether it did. Callers must not change value afterwards.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
	// Delete removes a key; an absent one is not an error.
	Delete(ctx context.Context, key string) error
}
