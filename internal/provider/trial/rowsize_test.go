package trial

import (
	"errors"
	"strings"
	"testing"

	"wayside/internal/mapdata"
)

func TestRowSizes(t *testing.T) {
	const maxRow = 1000
	full := strings.Repeat("x", maxRow-10)
	tests := []struct {
		name string
		body string
		want mapdata.Outcome // empty: it passes
	}{
		{"many small rows", "[" + strings.Repeat(`{"a":"b"},`, 500) + "1]", ""},
		{"a row as large as may be", `["` + full + `"]`, ""},
		{"two of them", `["` + full + `","` + full + `"]`, ""},
		{"a larger one", `["` + full + full + `"]`, mapdata.OutcomeTooLarge},
		{"the second is larger", `["` + full + `","` + full + full + `"]`, mapdata.OutcomeTooLarge},
		{"commas in a string end no row", `["` + strings.Repeat(",", maxRow+1) + `"]`, mapdata.OutcomeTooLarge},
		{"commas after an escaped quote end no row", `["\"` + strings.Repeat(",", maxRow+1) + `"]`, mapdata.OutcomeTooLarge},
		{"commas after an escaped backslash do", `["\\"` + strings.Repeat(",1", maxRow) + `]`, ""},
		{"commas in a member end no row", `[{"a":[` + strings.Repeat("1,", maxRow) + `1]}]`, mapdata.OutcomeTooLarge},
		{"commas after a nested row do", `[{"a":[1,{"b":"]}"}]}` + strings.Repeat(",1", maxRow) + `]`, ""},
		{"white space before", strings.Repeat(" ", maxRow+1) + "[]", mapdata.OutcomeTooLarge},
		{"white space between", "[1," + strings.Repeat("\n", maxRow+1) + "1]", mapdata.OutcomeTooLarge},
		{"white space behind", "[]" + strings.Repeat(" ", maxRow+1), mapdata.OutcomeTooLarge},
		{"a large object", `{"entities":[` + strings.Repeat("1,", maxRow) + `1]}`, mapdata.OutcomeNotAnArray},
		{"large text", "\n<html>" + full + full, mapdata.OutcomeParseError},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 7, len(tt.body) + 1} {
			s := rowSizes{limit: maxRow}
			var err error
			for rest := tt.body; err == nil && rest != ""; {
				n := min(size, len(rest))
				err, rest = s.pass([]byte(rest[:n])), rest[n:]
			}
			got := mapdata.Outcome("")
			if failed := (*Failure)(nil); errors.As(err, &failed) {
				got = failed.Outcome
			}
			if got != tt.want {
				t.Errorf("%s, %d bytes at once: %q, want %q", tt.name, size, got, tt.want)
			}
		}
	}
}
