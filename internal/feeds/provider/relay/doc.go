// Package relay calls the operator's upstreams (D8): it requests those whose area a driver's request touches, and
// converts their answers to live incidents. An upstream answers in v1 rows, or in the raw form of alerts and jams,
// which package waze converts to v1 rows; either way the rows go through the one decoder that judges all rows (D3.13).
package relay
