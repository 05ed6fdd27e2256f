//go:build race

package formattest

// slower is the factor by which the race detector slows everything down.
const slower = 10
