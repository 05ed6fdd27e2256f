// Package format is the contract of bridges (D17). A bridge turns a foreign document into items: each becomes one v1 row, with a line and
// an end beside it that such a row cannot say, or is skipped for a reason. A bridge stores nothing, decides on no lifetime, and names no
// kind that its table lacks; the one row decoder judges what it makes.
//
// The formats are packages below this one. What several of them need is here: texts, lines and points, times and schedules, properties,
// charging sites, and the tables that say what foreign words mean in kinds.
package format
