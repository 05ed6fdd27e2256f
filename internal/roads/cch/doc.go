// Package cch finds routes in microseconds and applies changes of the costs of arcs in milliseconds, with customizable
// contraction hierarchies over arcs and turns (Dibbelt, Strasser, Wagner 2016; with turns: Buchhold, Wagner, Zeitz,
// Zündorf 2020). It is exact: a route has the weight that graph.Dijkstra finds.
//
// Prepare makes a Topology of a graph: an order of its arcs by nested dissection, and all shortcuts that contracting the
// arcs in this order can ever need. The topology is stored with the region. Customize computes the costs of the
// shortcuts: a Metric, which Update changes in part. A Query searches a View of the metric upwards from both ends, along
// the ancestors in the elimination tree.
package cch
