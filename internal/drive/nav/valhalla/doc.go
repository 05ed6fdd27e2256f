// Package valhalla parses requests for routes in the form of Valhalla's API (D15.19). The answers have the form that
// Valhalla returns for format=osrm; nav/osrm writes them.
package valhalla
