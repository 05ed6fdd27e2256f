// Package httpapitest is the harness of the black-box tests of the HTTP API: the service without pollers and mail, with a real database,
// a real server and a clock that only the test advances; browsers that are signed in to it; and checks of answers against openapi.json.
package httpapitest
