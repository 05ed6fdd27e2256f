// Package httpapi is the HTTP API: one table of routes (routes.go), each with its class of caller; one file for each
// resource; one writer of JSON and one of errors. A handler decodes, checks, makes one call and encodes; it returns its
// error, which problemOf converts to a status and a problem document (RFC 9457, D4.11). The console's pages and the files
// for browsers come from other packages and are mounted in the same table.
package httpapi
