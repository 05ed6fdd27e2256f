// Package car is the profile of a car over OpenStreetMap's tags (D15.3 to D15.9): which ways it may drive and how fast,
// what nodes and turns cost, and which turns relations forbid. It is pure: it maps tags to values, and knows no graph.
//
// The figures are data, in navigation-car.json, which is built in. Many of them are those of OSRM's car profile
// (BSD-2-Clause, © the Project OSRM contributors): facts, taken over so that the expectations of that project's
// scenarios hold here too. OSRM's text and code are not used.
//
// Start with New, then call Profile.Way for each way, Profile.Node for each tagged node, Profile.Turn for each turn and
// ParseRestriction for each relation. A Profile is immutable and safe for concurrent use.
package car
