// Package cch finds routes in microseconds and takes changes of what arcs cost in milliseconds: customizable contraction hierarchies
// over arcs and turns (Dibbelt, Strasser, Wagner 2016; with turns: Buchhold, Wagner, Zeitz, Zündorf 2020). It is exact: a route weighs
// what graph.Dijkstra finds.
//
// Prepare makes a Topology of a graph: an order of its arcs by nested dissection, and all shortcuts that contracting them in this
// order can ever need. It is stored with the region. Customize computes what the shortcuts cost: a Metric, which Update changes in
// part. A Query searches a View of it upwards from both ends, along the ancestors in the elimination tree.
package cch
