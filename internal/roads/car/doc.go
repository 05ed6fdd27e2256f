// Package car is the profile of a car over OpenStreetMap's tags (D15.3 to D15.9): which ways it may drive and how fast, what
// nodes and turns cost, and which turns relations forbid. It is pure: tags go in, values come out, and no graph is known here.
//
// The figures are data, in navigation-car.json, which is built in. Many of them are those of OSRM's car profile (BSD-2-Clause,
// © the Project OSRM contributors): facts, taken over so that what that project's scenarios expect holds here too. Its text
// and its code are not.
//
// Start with New, then ask Profile.Way for each way, Profile.Node for each tagged node, Profile.Turn for each turn and
// ParseRestriction for each relation. A Profile is immutable, and any number of goroutines may use it.
package car
