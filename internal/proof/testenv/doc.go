// Package testenv starts real servers for tests and measurements: PostgreSQL with PostGIS, and Valkey or Redis, from the
// system's packages, on free ports of 127.0.0.1, each with its own folder and password. A server ends with the process
// that started it, also when that process is killed.
//
// Nothing is installed here: .ci/servers does that before the tests run. Where a server is missing, a test skips and says
// in one line what to install; in CI (where the variable CI is "true") it fails.
package testenv
