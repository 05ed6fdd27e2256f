// Package scenarios sends the requests of OSRM's own test scenarios to our router, and compares the answers row by row.
//
// It reads the features of a checkout of that project (none of its text is kept here), draws each scenario's roads into
// one extract, far enough apart, builds the extract's road network as an import does, and sends each row of each table
// as a request. Scenarios for that project's test vehicle use our car with its figures (vehicle_test.go). Times,
// weights, speeds and lengths may differ by 2 %; rows that cannot be compared are counted with the reason.
//
// A test prints the share of rows that agree, by file, and the share that agrees except for guidance ("roads"): the
// names of the roads in their order, and quantities.
//
//	WAYSIDE_TEST_OSRM=DIR go test ./internal/drive/nav/scenarios -run OSRM -v
//
// WAYSIDE_TEST_OSRM_SHOW is a part of a file's name, or of a file's name and line ("restrictions.feature:118"): the
// test also prints the differing rows there. Scenarios of our own (own_test.go) need no checkout.
package scenarios
