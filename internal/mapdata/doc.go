// Package mapdata holds Wayside's words and their rules: kinds and their lifetimes, entities, feeds, sources and their
// health, accounts, changes. It knows no technology: no wire shapes, no SQL, no HTTP. Time enters every rule as now, so
// that each is a pure function. Times are kept to the millisecond, in UTC.
package mapdata
