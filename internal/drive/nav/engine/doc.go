// Package engine answers requests for routes with one of several engines (D15.23): the embedded one, which is package
// nav, or OSRM, Valhalla or GraphHopper at a URL of the operator's. All answers have the form of OSRM's API.
//
// The answer of a remote engine is untrusted: it is read within bounds into the types of answer.go, and only their
// contents are written to clients. Remote engines do not know the conditions of this service. So each of their routes is
// matched to the region's roads where there are conditions (nav.Network.Driven). If all routes drive a closed road, the
// engine is asked again, a bounded number of times and in the ways that its API offers: places or areas to leave out, or
// places of a detour to pass. The best of all answers is returned, with warnings.
package engine
