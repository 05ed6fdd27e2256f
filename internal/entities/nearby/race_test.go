//go:build race

package nearby_test

// slowdown is how much longer the race detector lets code run, at most.
const slowdown = 20
