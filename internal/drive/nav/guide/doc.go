// Package guide turns a way over the network into instructions for drivers: maneuvers in OSRM's words, with the lanes,
// signs and intersections on the way, and from these banners and announcements. It examines junctions when a route needs
// them; the only preparation is the index of junctions. It knows neither requests nor formats.
//
// A route passes through it as follows: view.go describes each junction as an arriving driver sees it, classify.go and
// obvious.go determine the instruction for the turn, roundabout.go joins the junctions of one roundabout, collapse.go
// joins maneuvers that a driver performs as one, lanes.go matches lanes to turns, and steps.go makes the steps.
package guide
