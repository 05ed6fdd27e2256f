//go:build !race

package formattest

// slower is the factor by which the race detector slows everything down: it is off.
const slower = 1
