package apps

import (
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// Bounds of a report.
const (
	maxReport = 16 << 10 // bytes
	maxChecks = 40
	maxSeen   = 500 // characters
)

// ParseReport checks the conformance report of a submission, and adds its errors to errors. It returns the report as compact JSON;
// nil: it is invalid. A report is the developer's statement: only its form is checked, and the curator judges whether it is true.
func ParseReport(field string, value jsontext.Value, errors *mapdata.FieldErrors) []byte {
	before := len(*errors)
	members, ok := membersOf(value)
	switch {
	case !ok:
		errors.Add(field, "invalid", "must be the JSON object that the app bench or wayside app check wrote")
		return nil
	case len(value) > maxReport:
		errors.Add(field, "too_long", "must take at most "+strconv.Itoa(maxReport>>10)+" KiB")
		return nil
	}
	r := reader{at: field + ".", members: members, errors: errors}
	if n := r.number("version"); n == nil || *n != 1 {
		errors.Add(field+".version", "invalid", "must be 1")
	}
	if text := r.text("url", true); text != "" && (len(text) > maxURL || !isAddress(text)) {
		errors.Add(field+".url", "invalid", "must be the address of the page that was checked")
	}
	if by := r.text("made_by", true); by != "" && by != "bench" && by != "command" {
		errors.Add(field+".made_by", "invalid", "must be bench or command")
	}
	if at := r.text("made_at", true); at != "" {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			errors.Add(field+".made_at", "invalid", "must be a time such as 2026-11-22T12:00:00Z")
		}
	}
	said, allPassed := r.truth("passed"), parseChecks(&r)
	r.rest()
	if len(*errors) == before && said != allPassed {
		errors.Add(field+".passed", "invalid", "must be true if and only if all checks passed")
	}
	if len(*errors) > before {
		return nil
	}
	compact := value.Clone()
	if err := compact.Compact(); err != nil {
		errors.Add(field, "invalid", "must be a JSON object")
		return nil
	}
	return compact
}

// parseChecks parses the checks of a report, and reports whether all of them passed.
func parseChecks(r *reader) bool {
	value, ok := r.take("checks")
	checks, isArray := arrayOf(value)
	at := r.at + "checks"
	switch {
	case !ok:
		r.errors.Add(at, "missing", "is required")
		return false
	case !isArray || len(checks) == 0:
		r.errors.Add(at, "invalid", "must be an array of at least one check")
		return false
	case len(checks) > maxChecks:
		r.errors.Add(at, "too_many", "must be at most "+strconv.Itoa(maxChecks))
		return false
	}
	passed := true
	for i, check := range checks {
		at := at + "[" + strconv.Itoa(i) + "]"
		members, ok := membersOf(check)
		if !ok {
			r.errors.Add(at, "invalid", "must be an object with check, seen and result")
			continue
		}
		inner := reader{at: at + ".", members: members, errors: r.errors}
		if name := inner.text("check", true); name != "" && !checkPattern.MatchString(name) {
			r.errors.Add(at+".check", "invalid", "must be the name of a check")
		}
		inner.line("seen", true, maxSeen)
		result := inner.text("result", true)
		if result != "" && result != "pass" && result != "fail" {
			r.errors.Add(at+".result", "invalid", "must be pass or fail")
		}
		inner.rest()
		passed = passed && result == "pass"
	}
	return passed
}

// truth takes a boolean that must be given.
func (r *reader) truth(name string) bool {
	if value, ok := r.members[name]; !ok || value.Kind() == 'n' {
		r.errors.Add(r.at+name, "missing", "is required")
	}
	return r.boolean(name)
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && utf8.ValidString(text) && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
