// Package demo is a town with providers of its own: one publishes cameras, chargers and road works over HTTPS for the
// service to pull, one pushes hazards and accidents that come and go, and one writes police, accidents and jams down for
// wayside relay, which the service calls. All use the doors that everybody uses, over real HTTP.
package demo
