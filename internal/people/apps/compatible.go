package apps

import (
	"fmt"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
)

// CheckCompatible adds an error for each way in which a new schema would refuse configs that the approved one accepts, after keys
// that it lacks were dropped (D16.6), and for each secret that it would no longer keep secret.
func CheckCompatible(field string, approved, next mapdata.ConfigSchema, errors *mapdata.FieldErrors) {
	for i := range next {
		n := &next[i]
		at := fmt.Sprintf("%s[%d].", field, i)
		refuse := func(member, message string) {
			errors.Add(at+member, "incompatible", message+". Drivers have set this app up; give the field another key")
		}
		j := slices.IndexFunc(approved, func(f mapdata.ConfigField) bool { return f.Key == n.Key })
		if j < 0 {
			if mustBeSet(n) {
				refuse("required", "A new field must not be required, unless it has a default")
			}
			continue
		}
		o := &approved[j]
		if n.Type != o.Type {
			refuse("type", "The approved version has type "+string(o.Type))
			continue
		}
		if mustBeSet(n) && !mustBeSet(o) {
			refuse("required", "The approved version accepts configs without it")
		}
		if o.Secret && !n.Secret {
			refuse("secret", "It must stay secret")
		}
		checkNarrowed(o, n, refuse)
	}
}

// checkNarrowed refuses a field that no longer accepts values of a field of the same type.
func checkNarrowed(o, n *mapdata.ConfigField, refuse func(member, message string)) {
	if gone := slices.DeleteFunc(slices.Clone(o.Options), func(option string) bool { return slices.Contains(n.Options, option) }); len(gone) > 0 {
		refuse("options", "The approved version also has "+strings.Join(gone, ", "))
	}
	if n.Min != nil && (o.Min == nil || *n.Min > *o.Min) && hasBelow(o, *n.Min) {
		refuse("min", "The approved version takes smaller numbers")
	}
	if n.Max != nil && (o.Max == nil || *n.Max < *o.Max) && hasAbove(o, *n.Max) {
		refuse("max", "The approved version takes larger numbers")
	}
	if (o.Type == mapdata.ConfigText || o.Type == mapdata.ConfigURL) && LengthOf(n) < LengthOf(o) {
		refuse("max_length", fmt.Sprintf("The approved version takes %d characters", LengthOf(o)))
	}
}

// hasBelow reports whether a field accepts a number below least, among the numbers that configs may contain at all.
func hasBelow(f *mapdata.ConfigField, least float64) bool {
	return least > -largestNumber && (f.Min == nil || *f.Min < least)
}

// hasAbove reports whether a field accepts a number above most, among the numbers that configs may contain at all.
func hasAbove(f *mapdata.ConfigField, most float64) bool {
	return most < largestNumber && (f.Max == nil || *f.Max > most)
}
