//go:build race

package formattest

// slower is how many times longer everything takes with the race detector.
const slower = 10
