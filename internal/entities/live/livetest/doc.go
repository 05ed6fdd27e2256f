// Package livetest has the contract tests of drivers of live incidents, and of the cache on top of them (D8). New behaviour
// is added here first.
package livetest
