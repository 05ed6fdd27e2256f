// Package demo simulates a town with three providers: one publishes cameras, chargers and road works over HTTPS for the
// service to pull, one pushes hazards and accidents, and one writes police, accidents and jams to a file for wayside relay,
// which the service calls. All use the public API over real HTTP.
package demo
