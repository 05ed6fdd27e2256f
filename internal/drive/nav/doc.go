// Package nav computes routes, tables of travel times, the nearest roads, and the roads that a trace was driven on
// (D15.10, D15.16, D15.18). It knows the road network (roads) and the current conditions on it, and nothing of HTTP;
// nav/osrm reads requests and writes answers in the form of OSRM's HTTP API.
//
// A request is answered on one Network, a value that does not change: snapping, search and answer use the same version.
// A place snaps to candidates, the arcs on which a route may begin or end there. A leg leads from one place to the next;
// over several legs, the best combination of candidates is chosen, so that a route is exact.
package nav
