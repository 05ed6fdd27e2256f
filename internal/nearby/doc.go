// Package nearby is the one door out: every read of entities is a Query, answered from the index, with the health of the
// sources that it touched.
package nearby
