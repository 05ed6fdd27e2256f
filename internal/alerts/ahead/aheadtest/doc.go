// Package aheadtest drives random routes through a road network with the errors of real receivers, and counts which pins are announced:
// those on the route, and those on parallel roads, opposite carriageways, bridges and roads beyond a junction that was not taken. It is
// for tests and measurements.
package aheadtest
