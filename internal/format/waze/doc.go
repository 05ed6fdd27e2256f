// Package waze decodes the raw form of relay mode: an answer of alerts and jams as navigation services word them, such as
// { alerts: [{ uuid, type, subtype, location: { x, y }, pubMillis, … }], jams: […] } (D8.5). It makes v1 rows of them,
// which package ingest judges as it judges all rows, and keeps beside each row what v1 cannot say: a line, and how far the
// report is to be trusted. The samples in testdata are made up: testdata/README.md tells from what.
//
// Package alertwords says what types and subtypes of alerts mean in kinds, a table of this package what else an item may be
// named by. A type that is unknown or has no kind is dropped and reported under a short label for a metric. Members that name
// people are never read.
package waze
