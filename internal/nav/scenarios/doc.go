// Package scenarios asks our router what the scenarios of OSRM's own tests ask of OSRM, and compares the answers row by row.
//
// It reads the features of a checkout of that project (none of its text is kept here), draws each scenario's roads into one
// extract, far enough apart, builds the road network of it as an import does, and sends each row of each table as a request.
// Scenarios of that project's test vehicle are driven by our car with its figures (vehicle_test.go). Times, weights, speeds and
// lengths may differ by 2 %; what cannot be compared is counted with the reason.
//
// A test prints the share of rows that agree, by file, and the share that agrees but for guidance ("roads"): the names of the roads
// in their order, and quantities.
//
//	WAYSIDE_TEST_OSRM=DIR go test ./internal/nav/scenarios -run OSRM -v
//
// WAYSIDE_TEST_OSRM_SHOW is a part of a file's name, or of a file's name and line ("restrictions.feature:118"): the rows there
// that differ are printed as well. Scenarios of our own (own_test.go) need no checkout.
package scenarios
