// Package replica keeps views in memory (projections) in step with the store. It loads each of them once, and then brings it
// what changed, in the order of revisions. All projections are built beside what readers see, and published together.
//
// It knows nothing of what a projection holds. A new one implements Projection, passes the tests of projectiontest, and is
// named where the service is put together.
package replica
