package scenarios

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// agrees reports whether a result is what a cell expects: the same text, or within the cell's own tolerance.
func agrees(got, want string) bool {
	if got == want {
		return true
	}
	if inner, ok := strings.CutPrefix(want, "/"); ok && strings.HasSuffix(inner, "/") {
		re, err := regexp.Compile(strings.TrimSuffix(inner, "/"))
		return err == nil && re.MatchString(got)
	}
	if value, margin, ok := strings.Cut(want, "+-"); ok {
		return agreesWithin(got, strings.TrimSpace(value), leading(strings.TrimSpace(margin)))
	}
	if at := strings.LastIndex(want, "~"); at > 0 && strings.HasSuffix(want, "%") {
		target, percent := leading(want), leading(want[at+1:])
		return target == 0 || 100*math.Abs(1-leading(got)/target) < percent
	}
	return false
}

// leading returns the number at the beginning of a text, or NaN if there is none.
func leading(text string) float64 {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	v, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

var (
	separators = regexp.MustCompile(`[;, :]+|->`)
	inNumbers  = regexp.MustCompile(`^[-+]?[0-9.]+`)
)

// agreesWithin compares numbers with a margin, and the text between them exactly.
func agreesWithin(got, want string, margin float64) bool {
	a, b := separators.Split(strings.Trim(got, ";, "), -1), separators.Split(strings.Trim(want, ";, "), -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if inNumbers.MatchString(b[i]) {
			if !(math.Abs(leading(a[i])-leading(b[i])) <= margin+1e-9) {
				return false
			}
		} else if a[i] != b[i] {
			return false
		}
	}
	return true
}

// tolerated is the relative tolerance of times, weights, speeds and lengths if a cell does not state one.
const tolerated = 0.02

// agreesInQuantity compares lists of numbers with units.
func agreesInQuantity(got, want string) bool {
	if agrees(got, want) {
		return true
	}
	if at := strings.IndexAny(want, "+~"); at > 0 {
		want = strings.TrimSpace(want[:at])
	}
	a, b := separators.Split(strings.TrimSpace(got), -1), separators.Split(strings.TrimSpace(want), -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		x, y := leading(a[i]), leading(b[i])
		if !(math.Abs(x-y) <= tolerated*math.Abs(y)+0.05) { // plus the error of rounding to a tenth
			return false
		}
	}
	return true
}
