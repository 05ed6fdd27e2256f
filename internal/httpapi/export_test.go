package httpapi

import "wayside/internal/account"

// RouteLine is a line of the table of routes, for tests.
type RouteLine struct {
	Method, Path string
	Who          account.Who
	Page         bool // for people
}

// RouteTable is the whole table, in its order.
func RouteTable() []RouteLine {
	var all []RouteLine
	for _, r := range new(api).routes() {
		all = append(all, RouteLine{Method: r.method, Path: r.path, Who: r.who, Page: r.class == classPage})
	}
	return all
}
