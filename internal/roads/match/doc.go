// Package match finds places on the road network: the nearest roads (D15.10), and the arcs that a line or a point of an
// entity refers to (D15.15).
//
// An Index is immutable and safe for concurrent use.
package match
