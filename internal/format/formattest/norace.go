//go:build !race

package formattest

// slower is how many times longer everything takes with the race detector: it is off.
const slower = 1
