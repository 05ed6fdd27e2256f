// Package valhalla reads requests for routes in the form of Valhalla's API (D15.19). They are answered as Valhalla does with
// format=osrm: nav/osrm writes the answers.
package valhalla
