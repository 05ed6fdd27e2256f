package live

import (
	"context"
	"time"
)

// Driver keeps small values for a while. A shared cache is one, so is this process's memory. Values are never empty, and a
// driver may lose one before its time is over, as caches do.
type Driver interface {
	// Get gives the values under the keys in their order, nil where there is none or its time is over. Callers don't change
	// values, and what they were given stays as it is.
	Get(ctx context.Context, keys []string) ([][]byte, error)
	// Swap puts value under key for ttl, a millisecond or more, if the key holds exactly old now (nil: nothing), and says
	// whether it did. Callers don't change value afterwards.
	Swap(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error)
	// Delete removes a key; one that is not there is no error.
	Delete(ctx context.Context, key string) error
}
