// Package testenv starts real servers for tests and measurements: PostgreSQL with PostGIS, and Valkey or Redis, from the
// system's packages, on free ports of 127.0.0.1, with folders and passwords of their own. They end with whoever started
// them, also when that is killed.
//
// Nothing is installed here: .ci/servers does that before the tests run. Where a server is missing, a test skips and says
// in one line what to install; in CI (where the variable CI is "true") it fails.
package testenv
