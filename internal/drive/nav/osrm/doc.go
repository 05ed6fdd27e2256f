// Package osrm is the form of OSRM's HTTP API, version 5 (D15.18): it parses the options of a request from a URL or a
// JSON body, and appends the JSON of answers. It checks options in the same order as OSRM, with OSRM's codes and
// messages. It knows no HTTP; internal/http/httpapi passes texts to it.
package osrm
