// Package engine answers requests for routes by one engine or another (D15.23): the embedded one, which is package nav, or OSRM,
// Valhalla or GraphHopper at a URL of the operator's. All answer in the shape of OSRM's API.
//
// What a remote engine answers is foreign: it is read within bounds into the types of answer.go, and only what they hold is written
// to readers. No remote engine knows the conditions of this service. So each of its routes is matched to the region's roads where
// conditions are (nav.Network.Driven); if all drive a closed road, the engine is asked again, a bounded number of times and in the
// ways that it has: places or areas to leave out, or places of a detour to pass. The best of all answers is given, with warnings.
package engine
