// Package match finds places on the road network: the nearest roads (D15.10), and the arcs that a line or a point of an entity
// stands for (D15.15).
//
// An Index is immutable, and any number of goroutines may use it.
package match
