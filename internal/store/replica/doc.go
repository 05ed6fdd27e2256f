// Package replica keeps views of the store in memory (projections) up to date. It loads each of them once, and then applies
// changes in the order of revisions. The next state of all projections is built while readers use the current one, and
// published together.
//
// It does not depend on the contents of projections. A new one implements Projection, passes the tests of projectiontest, and
// is passed to New where the service is assembled.
package replica
