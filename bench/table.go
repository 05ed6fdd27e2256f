package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table holds the results.
type table struct{ rows []row }

// row is one result. Its verdict is empty if there is no goal.
type row struct{ what, goal, got, verdict string }

func (t *table) add(what, goal, got string, met bool) {
	verdict := "met"
	if !met {
		verdict = "MISSED"
	}
	t.rows = append(t.rows, row{what, goal, got, verdict})
}

// note adds a figure without a goal.
func (t *table) note(what, got string) {
	t.rows = append(t.rows, row{what: what, got: got})
}

func (t *table) print() {
	lines := [][4]string{{"what", "goal", "measured", ""}}
	for _, r := range t.rows {
		lines = append(lines, [4]string{r.what, r.goal, r.got, r.verdict})
	}
	widths := [4]int{4, 4, 4, 4}
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	for _, line := range lines {
		for i, text := range line {
			fmt.Print("| ", text, strings.Repeat(" ", widths[i]-len([]rune(text))+1))
		}
		fmt.Println("|")
	}
}

// leadingNumber is the figure of a result: the first number in it.
var leadingNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// figure returns the number in a result; false: it has none.
func (r *row) figure() (float64, bool) {
	n, err := strconv.ParseFloat(leadingNumber.FindString(r.got), 64)
	return n, err == nil
}

// medians returns the table of several runs: for each row the run with the median, with its verdict, and the range of all runs. The
// table of a single run stays as it is. Runs with different rows cannot be compared: then it returns the last run's table and an
// error.
func medians(runs []*table) (*table, error) {
	if len(runs) == 0 {
		return &table{}, nil
	}
	last := runs[len(runs)-1]
	for _, t := range runs {
		if len(t.rows) != len(last.rows) {
			return last, fmt.Errorf("the runs have %d and %d rows, so that the table is that of the last one", len(t.rows), len(last.rows))
		}
	}
	if len(runs) == 1 {
		return last, nil
	}
	all := &table{}
	for i := range last.rows {
		var same []row
		for _, t := range runs {
			if _, ok := t.rows[i].figure(); ok {
				same = append(same, t.rows[i])
			}
		}
		if len(same) < len(runs) {
			all.rows = append(all.rows, last.rows[i])
			continue
		}
		slices.SortStableFunc(same, func(a, b row) int {
			x, _ := a.figure()
			y, _ := b.figure()
			return cmp.Compare(x, y)
		})
		median := same[len(same)/2]
		low, _ := same[0].figure()
		high, _ := same[len(same)-1].figure()
		median.got += fmt.Sprintf("; %d runs: %g to %g", len(runs), low, high)
		all.rows = append(all.rows, median)
	}
	return all, nil
}
