// Package waze decodes the raw form of relay mode: an answer of alerts and jams as navigation services word them, such
// as { alerts: [{ uuid, type, subtype, location: { x, y }, pubMillis, … }], jams: […] } (D8.5). It converts them to v1
// rows, which package ingest judges like all rows, and adds to each row what v1 cannot express: a line, and the
// reliability of the report. The samples in testdata are made up; testdata/README.md names their sources.
//
// Package alertwords maps types and subtypes of alerts to kinds; a table of this package has the other names of items.
// A type that is unknown or has no kind is dropped and reported under a short label for a metric. Members that name
// people are never read.
package waze
