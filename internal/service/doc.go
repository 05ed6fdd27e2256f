// Package service composes the running service from all other packages: stores, projections, use cases and listeners are
// opened by Open, run and stopped in order by Run. Commands, tests and measurements start it as a value. Admin is the part of
// it that commands use beside a running service.
package service
