package httpapi

import (
	"time"

	"wayside/internal/entities/stream"
)

// ProblemStatuses returns the status of each kind of error by its name.
func ProblemStatuses() map[string]int {
	all := map[string]int{}
	for _, s := range statuses {
		all[s.name] = s.status
	}
	return all
}

// AccountCheckInterval returns how often a stream looks its caller up, with the default interval of heartbeats.
func AccountCheckInterval() time.Duration {
	return heartbeatsPerAccountCheck * stream.HeartbeatInterval
}
