// Package traffic is what entities do to roads: the conditions in force (D15.13 to D15.17), as a projection of what readers
// see.
//
// Entities are read by the one way there is to read them, as a guest who drives sees them, so that votes, suppression,
// merging, law and approval count here without a rule of their own. Whatever moves is told as for streams (mapdata.Touched): the
// conditions there are read again, matched to arcs, and the difference becomes weights of arcs. Readers take a State and never
// wait.
package traffic
