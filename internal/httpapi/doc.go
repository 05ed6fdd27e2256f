// Package httpapi is the service's HTTP face: one table of routes, each with its class of caller; one file for each
// resource; one writer of JSON and one of errors. A handler decodes, checks, makes one call and encodes; it returns its
// error, and one table turns that into a status and a problem document (RFC 9457, D4.11).
package httpapi
