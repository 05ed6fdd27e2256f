// Package nav answers how to drive: routes, tables of times, the nearest roads, and where a trace was driven (D15.10, D15.16,
// D15.18). It knows the network (roads), what conditions do to it at this moment, and nothing of HTTP; nav/osrm reads its requests
// and writes its answers in the form of OSRM's HTTP API.
//
// A request is answered on one Network, a value that does not change: what it snaps to, what it searches and what it reports are of
// one version. A place snaps to candidates, the arcs on which a route may begin or end there. A leg leads from one place to the
// next; over several legs, the best combination of candidates is chosen, so that a route is exact.
package nav
