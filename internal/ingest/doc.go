// Package ingest decodes and judges the rows of every provider, once and by the same rules, and turns batches and snapshots into changes of the store.
package ingest
