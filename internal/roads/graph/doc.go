// Package graph is the road network of a region as arrays: what a car may drive, and from where onto what (D15.1, D15.8,
// D15.9).
//
// A piece is a stretch of a way between two nodes at which something can happen: a junction, the end of the road, a barrier, a
// traffic light. An arc is a piece in one direction, and a turn leads from the end of an arc onto another. All turns that are
// allowed are there, one by one; so routing needs nothing but arcs and turns. Where a restriction over several ways makes what
// is allowed depend on how one came, an arc has copies.
//
// A Graph is immutable and holds nothing but arrays of plain values, so that it can lie in a mapped file. What conditions do to
// arcs is not in it: a search is given the weights of all arcs.
package graph
