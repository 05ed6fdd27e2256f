// Package demo is a town with providers of its own: one publishes cameras, chargers and road works over HTTPS for the
// service to pull, one pushes police, hazards, accidents and jams that come, move and go. Both use the doors that
// everybody uses, over real HTTP.
package demo
