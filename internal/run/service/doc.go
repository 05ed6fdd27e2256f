// Package service composes the running service from all other packages: Open opens stores, projections, use cases and listeners,
// and Run runs them and stops them in order. Commands, tests and measurements start the service as a value. Admin is the part of it
// that commands use beside a running service.
package service
