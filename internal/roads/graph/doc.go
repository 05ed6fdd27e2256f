// Package graph is the road network of a region as arrays: what a car may drive, and from where onto what (D15.1, D15.8,
// D15.9).
//
// A piece is a stretch of a way between two nodes at which something can happen: a junction, the end of the road, a
// barrier, a traffic light. An arc is a piece in one direction, and a turn leads from the end of an arc onto another.
// The graph contains every allowed turn, so that routing needs nothing but arcs and turns. An arc has copies if a
// restriction over several ways makes the allowed turns depend on the arcs before it.
//
// A Graph is immutable and holds nothing but arrays of plain values, so that it can lie in a mapped file. It does not
// contain the effect of conditions: the caller of a search passes the weights of all arcs.
package graph
