package ingest

import (
	"cmp"
	"slices"
)

// RowError says why a row was rejected (D3.10).
type RowError struct {
	Index      int     `json:"index"`       // of the row in its array, from 0
	ExternalID *string `json:"external_id"` // nil where it is missing or no string
	Code       string  `json:"code"`
	Field      string  `json:"field"` // empty when the row as a whole is at fault
	Message    string  `json:"message"`
}

// maxErrors is how many errors a report names.
const maxErrors = 100

// Report is what became of a batch or a snapshot.
type Report struct {
	Accepted        int        `json:"accepted"`
	Rejected        int        `json:"rejected"`
	Errors          []RowError `json:"errors"` // of the lowest indexes, at most 100; never nil once made by this package
	ErrorsTruncated bool       `json:"errors_truncated,omitempty"`
}

// reject counts a rejection and keeps it if it is among the first. Duplicates are found when the later row comes, so that
// indexes do not only rise.
func (r *Report) reject(e RowError) {
	r.Rejected++
	at, _ := slices.BinarySearchFunc(r.Errors, e.Index, func(o RowError, index int) int { return cmp.Compare(o.Index, index) })
	if len(r.Errors) == maxErrors {
		r.ErrorsTruncated = true
		if at == maxErrors {
			return
		}
		r.Errors = r.Errors[:maxErrors-1]
	}
	r.Errors = slices.Insert(r.Errors, at, e)
}

// duplicate rejects a row that a later one with the same external id replaces (D3.8).
func (r *Report) duplicate(index int, externalID string) {
	r.Accepted--
	r.reject(RowError{
		Index: index, ExternalID: &externalID, Code: codeDuplicateExternalID, Field: "external_id",
		Message: "A later row has the same external_id, and counts.",
	})
}
