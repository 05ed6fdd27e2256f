// Package format is the contract of bridges (D17). A bridge converts a foreign document to items: each becomes one v1
// row, with a line and an end that such a row cannot express, or is skipped for a reason. A bridge stores nothing,
// decides on no lifetime, and uses no kind that its table lacks; the one row decoder judges the rows that it makes.
//
// The formats are packages below this one. This package has what several of them need: texts, lines and points, times
// and schedules, properties, charging sites, and the tables that map foreign words to kinds.
package format
