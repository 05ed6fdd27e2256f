package consensus_test

import (
	"time"

	"wayside/internal/mapdata"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// kind finds a kind of the catalogue by its icon, which names it shortly.
func kind(icon string) mapdata.Kind {
	for k, info := range mapdata.Kinds() {
		if info.Icon == icon {
			return mapdata.Kind(k)
		}
	}
	panic("no such kind: " + icon)
}
