package httpapi

import (
	"time"

	"wayside/internal/entities/stream"
	"wayside/internal/people/account"
)

// RouteLine is a line of the table of routes, for tests.
type RouteLine struct {
	Method, Path string
	Who          account.Who
	Page         bool // for people
}

// RouteTable returns the whole table.
func RouteTable() []RouteLine {
	var all []RouteLine
	for _, r := range new(api).routes() {
		all = append(all, RouteLine{Method: r.method, Path: r.path, Who: r.who, Page: r.class == classPage})
	}
	return all
}

// AccountCheckInterval returns how often a stream looks its caller up, with the default interval of heartbeats.
func AccountCheckInterval() time.Duration {
	return heartbeatsPerAccountCheck * stream.HeartbeatInterval
}

// DescribeAPI returns openapi.json, with apps or without.
func DescribeAPI(withApps bool) ([]byte, error) { return describeAPI(withApps) }
