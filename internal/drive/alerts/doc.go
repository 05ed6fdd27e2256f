// Package alerts selects the pins ahead of a driver and decides which one to announce: pure functions of a position, a
// heading, a speed and pins. The page has the same functions in TypeScript for offline use; testdata/cases.json tests both.
package alerts
