// Package alerts decides what lies ahead of a driver, and what of it is announced: pure functions of a position, a heading, a
// speed and pins. The page has the same in TypeScript for when it is offline; testdata/cases.json holds both to the same
// answers.
package alerts
