package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// size is the size of a region.
type size struct{ junctions, megabytes float64 }

// sizes lists the measured extracts; the last one is copies of Milan, linked to each other.
var sizes = [...]struct {
	name string
	size
}{{"Monaco", size{1_153, 0.47}}, {"Malta", size{23_524, 3.3}}, {"Milan", size{44_598, 3.7}}, {"1 M", size{1_025_754, 91.6}}}

// cost is something that grows with a region.
type cost struct {
	what, unit string
	measured   [len(sizes)]float64
	least      float64            // least exponent: a sum grows no slower than the region, though small ones have a fixed part
	by         func(size) float64 // the measure of size with which it grows
}

func junctions(s size) float64 { return s.junctions }
func megabytes(s size) float64 { return s.megabytes }

// costs returns the measurements of make bench BENCH=navigation MILLION=1 with an extract of each size, on 2 cores that other
// programs used too.
func costs() []cost {
	return []cost{
		{"import of the roads, processor time", " s", [...]float64{0.06, 0.7, 1.5, 89}, 1, junctions},
		{"· of search, map, cameras and chargers", " s", [...]float64{0.34, 1.8, 1.9, 25}, 1, megabytes},
		{"memory of an import of roads alone", "B", [...]float64{37e6, 48e6, 57e6, 637e6}, 1, junctions},
		{"memory of an import of everything", "B", [...]float64{44e6, 73e6, 89e6, 916e6}, 1, megabytes},
		{"file, with everything", "B", [...]float64{0.76e6, 15.6e6, 24e6, 549e6}, 1, junctions},
		{"memory to serve roads", "B", [...]float64{4e6, 22e6, 32e6, 718e6}, 1, junctions},
		{"· of this, private; the rest is the file", "B", [...]float64{3.8e6, 9.1e6, 10.7e6, 199e6}, 1, junctions},
		{"start to ready, more than without roads", " s", [...]float64{0.005, 0.06, 0.14, 2.65}, 1, junctions},
		{"everything customised, on one core", " s", [...]float64{0.0003, 0.03, 0.049, 2}, 1, junctions},
		{"one closure customised, p99", " s", [...]float64{20e-6, 220e-6, 2.5e-3, 5.5e-3}, 0, junctions},
		{"search of a route and its path, p50", " s", [...]float64{2e-6, 14e-6, 24e-6, 216e-6}, 0, junctions},
		{"answer with full geometry over HTTP, p50", " s", [...]float64{0.12e-3, 0.18e-3, 0.20e-3, 0.74e-3}, 0, junctions},
	}
}

// exponent returns the power of the size with which the cost grows, by the two largest extracts.
func (c cost) exponent() float64 {
	last := len(sizes) - 1
	grown := math.Log(c.measured[last]/c.measured[last-1]) / math.Log(c.by(sizes[last].size)/c.by(sizes[last-1].size))
	return max(grown, c.least)
}

// of returns the cost of a region, extrapolated from the largest measured one.
func (c cost) of(s size) float64 {
	last := len(sizes) - 1
	return c.measured[last] * math.Pow(c.by(s)/c.by(sizes[last].size), c.exponent())
}

// area is a country or a continent, by the size of its extract.
type area struct {
	name string
	size
}

// parseAreas parses areas such as "Italy=2100,Germany=4400".
func parseAreas(text string, junctionsPerMB float64) ([]area, error) {
	var all []area
	for one := range strings.SplitSeq(text, ",") {
		name, extract, ok := strings.Cut(strings.TrimSpace(one), "=")
		mb, err := strconv.ParseFloat(extract, 64)
		if !ok || name == "" || err != nil || !(mb >= 1 && mb <= 1e7) {
			return nil, fmt.Errorf("-areas: %q is no name, =, and the megabytes of an extract from 1 to 10 000 000", one)
		}
		all = append(all, area{name, size{mb * junctionsPerMB, mb}})
	}
	return all, nil
}

// printRoads prints the tables about roads: the measurements, the needs of areas, and the limits of the file's format.
func printRoads(stdout io.Writer, areas string, junctionsPerMB float64) error {
	if !(junctionsPerMB >= 1 && junctionsPerMB <= 1e6) {
		return errors.New("-junctions-per-mb: from 1 to 1 000 000")
	}
	columns, err := parseAreas(areas, junctionsPerMB)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	printMeasured(out)
	_, _ = fmt.Fprintln(out) // Flush returns the error
	printAreas(out, columns)
	_, _ = fmt.Fprintln(out)
	printEnds(out, junctionsPerMB)
	return out.Flush()
}

func printMeasured(w io.Writer) {
	head, second, third := []string{"measured"}, []string{"extract"}, []string{"junctions"}
	for _, s := range sizes {
		head, second, third = append(head, s.name), append(second, quantity(s.megabytes*1e6, "B")), append(third, quantity(s.junctions, ""))
	}
	table := [][]string{append(head, "exponent"), append(second, ""), append(third, "")}
	for _, c := range costs() {
		line := []string{c.what}
		for _, v := range c.measured {
			line = append(line, amount(v, c.unit))
		}
		table = append(table, append(line, fmt.Sprintf("%.2f", c.exponent())))
	}
	printTable(w, table)
}

func printAreas(w io.Writer, columns []area) {
	head, second, third := []string{"calculated"}, []string{"extract"}, []string{"junctions"}
	for _, a := range columns {
		head = append(head, "**"+a.name+"**")
		second = append(second, quantity(a.megabytes*1e6, "B"))
		third = append(third, quantity(a.junctions, ""))
	}
	table := [][]string{head, second, third}
	for _, c := range costs() {
		line := []string{c.what}
		for _, a := range columns {
			line = append(line, amount(c.of(a.size), c.unit))
		}
		table = append(table, line)
	}
	printTable(w, table)
}

// amount formats a quantity: short times in milliseconds and microseconds, long ones in minutes and hours.
func amount(v float64, unit string) string {
	if unit != " s" {
		return quantity(v, unit)
	}
	switch {
	case v < 0.000_95:
		return quantity(v*1e6, " µs")
	case v < 0.95:
		return quantity(v*1e3, " ms")
	case v < 180:
		return quantity(v, " s")
	case v < 10_800:
		return quantity(v/60, " min")
	}
	return quantity(v/3600, " h")
}

// array is an array of the file whose positions are numbered by 32 bits.
type array struct {
	what        string
	perJunction float64 // in the largest measured network
	most        float64
}

// arrays returns the arrays with the most elements for each junction.
func arrays() []array {
	return []array{
		{"positions on lines", 4.8, 1 << 31},
		{"turns", 3.4, 1 << 31},
		{"ends of pieces", 2.7, 1 << 31},
		{"edges of the hierarchy in one direction", 6, 1 << 32},
	}
}

// printEnds prints at which size 32 bits no longer number the elements of the arrays, the smallest size first.
func printEnds(w io.Writer, junctionsPerMB float64) {
	all := arrays()
	slices.SortFunc(all, func(a, b array) int { return int(a.most/a.perJunction/1e3 - b.most/b.perJunction/1e3) })
	table := [][]string{{"numbered by 32 bits", "for each junction", "ends at junctions", "an extract of"}}
	for _, a := range all {
		end := a.most / a.perJunction
		table = append(table, []string{a.what, fmt.Sprintf("%.1f", a.perJunction), quantity(end, ""), quantity(end/junctionsPerMB*1e6, "B")})
	}
	printTable(w, table)
}
