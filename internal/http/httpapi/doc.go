// Package httpapi is the core of the HTTP API: one table of routes (routes.go), each with its class of caller; callers, their admission
// and limits; one writer of JSON and one of errors; and what handlers share to read requests. A handler decodes, checks, makes one call
// and encodes; it returns its error, which problemOf converts to a status and a problem document (RFC 9457, D4.11).
//
// The resources are in leaves, the packages below this one: each declares what it needs (Deps), gives its rows to the table (Leaf), and
// has its tests beside it. Leaves do not know each other; what two of them need is here. The package public composes all of it, and
// httpapitest is the harness of the black-box tests. The console's pages and the files for browsers come from other packages and are
// mounted in the same table by the core.
package httpapi
