// Package osrm is the form of OSRM's HTTP API, version 5 (D15.18): it reads the options of a request from a URL or a JSON body, and
// appends the JSON of answers. What it reads is judged in the order in which OSRM does, with OSRM's codes and messages. It knows
// no HTTP; internal/httpapi hands it texts.
package osrm
