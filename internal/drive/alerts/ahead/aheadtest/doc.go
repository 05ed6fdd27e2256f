// Package aheadtest drives random routes through a road network with the errors of real receivers, and counts which pins
// are announced: pins on the route, and pins on parallel roads, opposite carriageways, bridges and roads beyond a
// junction at which the driver does not turn. It is for tests and measurements.
package aheadtest
