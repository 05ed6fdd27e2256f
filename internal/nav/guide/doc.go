// Package guide makes of a way over the network what a driver is told: maneuvers in OSRM's words, with the lanes, signs and
// intersections on the way, and of these banners and announcements. It looks at junctions when a route asks for them; nothing is
// prepared but the index of junctions. It knows neither requests nor formats.
//
// A route passes through it so: view.go looks at each junction as a driver sees it who arrives there, classify.go and obvious.go say
// what is to be told of the turn, roundabout.go joins what belongs to one roundabout, collapse.go what a driver does as one, lanes.go
// matches lanes to turns; steps.go makes the steps of it.
package guide
