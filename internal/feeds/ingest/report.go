package ingest

import (
	"cmp"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
)

// RowError is the reason why a row was rejected (D3.10).
type RowError struct {
	Index      int     `json:"index"`       // of the row in its array, from 0
	ExternalID *string `json:"external_id"` // nil where it is missing or not a string
	Code       string  `json:"code"`
	Field      string  `json:"field"` // empty when the row as a whole is at fault
	Message    string  `json:"message"`

	// Reason and Value are for examples (mapdata.RejectedRow) and not kept in a Report. Value is valid until the next
	// row is decoded; nil: the field is missing, or its value would not help.
	Reason mapdata.Reason `json:"-"`
	Value  []byte         `json:"-"`
}

// maxErrors is the largest number of errors in a report.
const maxErrors = 100

// Report is the result of a batch or a snapshot.
type Report struct {
	Accepted        int        `json:"accepted"`
	Rejected        int        `json:"rejected"`
	Errors          []RowError `json:"errors"` // of the lowest indexes, at most 100; never nil once made by this package
	ErrorsTruncated bool       `json:"errors_truncated,omitempty"`
	Warnings        []Warning  `json:"warnings,omitempty"` // each property and code once

	Snapshot *PartReport `json:"snapshot,omitempty"` // of which the batch is a part
}

// reject counts a rejection and keeps it if it is among the first. A duplicate is found when the later row comes, so
// that indexes do not always increase.
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

// verdict is the result for the rows so far: the report, and the reasons for rejections, each code once.
type verdict struct {
	report     Report
	rejections []mapdata.Rejection
	warnings   []mapdata.Rejection // in the form of rejections, of rows that were accepted
}

func newVerdict() verdict { return verdict{report: Report{Errors: []RowError{}}} }

// reject counts a rejection, and keeps it if it is among the first, or among the first of its code.
func (v *verdict) reject(e *RowError) {
	brief := *e // reports have neither reason nor value
	brief.Reason, brief.Value = "", nil
	v.report.reject(brief)
	r := reasonFor(&v.rejections, e.Code)
	r.Rows++
	if len(r.Examples) == mapdata.MaxExamples {
		return
	}
	example := mapdata.RejectedRow{Index: e.Index, Field: e.Field, Message: e.Message, Reason: e.Reason, Value: beginning(e.Value)}
	if e.ExternalID != nil {
		example.ExternalID = cut(*e.ExternalID, maxExternalID)
	}
	r.Examples = append(r.Examples, example)
}

// reasonFor returns the entry of a code, which it adds if necessary.
func reasonFor(all *[]mapdata.Rejection, code string) *mapdata.Rejection {
	at := slices.IndexFunc(*all, func(r mapdata.Rejection) bool { return r.Code == code })
	if at < 0 {
		at = len(*all)
		*all = append(*all, mapdata.Rejection{Code: code})
	}
	return &(*all)[at]
}

// reasons returns the part of the verdict that is stored: rejections and warnings.
func (v *verdict) reasons() []mapdata.Rejection { return slices.Concat(v.rejections, v.warnings) }

// with returns a copy of the verdict in which more rows, accepted before, are rejected. The verdict itself is
// unchanged.
func (v *verdict) with(full []*RowError) verdict {
	if len(full) == 0 {
		return *v
	}
	more := verdict{report: v.report, rejections: slices.Clone(v.rejections), warnings: v.warnings}
	more.report.Errors = slices.Clone(v.report.Errors)
	for i := range more.rejections {
		more.rejections[i].Examples = slices.Clone(more.rejections[i].Examples)
	}
	for _, e := range full {
		more.report.Accepted--
		more.reject(e)
	}
	return more
}

// duplicate rejects a row that a later one with the same external id replaces (D3.8).
func (v *verdict) duplicate(index int, externalID string) {
	v.report.Accepted--
	v.reject(&RowError{
		Index: index, ExternalID: &externalID, Code: codeDuplicateExternalID, Field: "external_id",
		Message: "A later row has the same external_id, and counts.",
	})
}

// beginning returns the part of a value that an example shows.
func beginning(value []byte) string {
	if len(value) <= mapdata.MaxValue {
		return cut(string(value), mapdata.MaxValue)
	}
	const more = "…"
	return cut(string(value[:mapdata.MaxValue-len(more)]), mapdata.MaxValue) + more
}

// cut returns a text cut to at most the given bytes, in whole characters, without invalid UTF-8.
func cut(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}
