// Package drivers is the built-in source of drivers' own reports (D17.35 to D17.38). A report of an event that is on the map already is a
// confirm of it; any other becomes a row, which ingest judges like every other, of a feed that the service keeps. The author is stored with
// the entity's tally, so that every node knows, with the votes, who may read a report that waits for a second account.
//
// All bounds are checked before the work: the rate of an account, its reports of a day and the distance to its last one. Two reports of one
// event at the same time do not become two entities, because each is compared with the reports stored before it, and compared again if
// another one came between.
package drivers
