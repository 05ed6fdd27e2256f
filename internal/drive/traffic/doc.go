// Package traffic computes what entities do to roads: the conditions in force (D15.13 to D15.17), as a projection of
// what readers see.
//
// The follower reads entities the same way as a guest who drives, so that votes, suppression, merging, law and approval
// apply here without rules of their own. Streams and the follower learn of changes from the same notifications
// (mapdata.Touched): the follower reads the conditions there again and matches them to arcs, and the difference becomes
// weights of arcs. Routes and other readers take a State and never wait.
package traffic
