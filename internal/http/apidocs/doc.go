// Package apidocs renders openapi.json as a page for people: every operation with its parameters, answers and a curl line,
// every schema, every type of problem.
package apidocs
