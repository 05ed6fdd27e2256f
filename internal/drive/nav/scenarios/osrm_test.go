package scenarios

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOSRM checks and prints the share of the rows of OSRM's scenarios whose results are as that project expects.
func TestOSRM(t *testing.T) {
	checkout := os.Getenv("WAYSIDE_TEST_OSRM")
	if checkout == "" {
		t.Skip("WAYSIDE_TEST_OSRM names no checkout of OSRM")
	}
	show := os.Getenv("WAYSIDE_TEST_OSRM_SHOW")
	// Thirteen rows of testbot have a part of three junctions beside one of four: OSRM calls it small by an option of the
	// import, and here it is not a tenth (D15.10).
	for _, folder := range []struct {
		name         string
		least, roads float64 // minimum shares of its rows that agree, with guidance and without it, in percent
	}{{"car", 98.9, 99.1}, {"guidance", 93, 98.9}, {"nearest", 100, 100}, {"testbot", 86, 92.5}} {
		t.Run(folder.name, func(t *testing.T) {
			all, err := readFolder(checkout, folder.name)
			if err != nil {
				t.Fatal(err)
			}
			outcomes, err := runScenarios(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			total := report(t, outcomes, show)
			if folder.name == "car" || folder.name == "guidance" {
				checkFiles(t, outcomes)
			}
			if agreed, roads := total.share(total.agreed), total.share(total.roads); agreed < folder.least || roads < folder.roads {
				t.Errorf("%.1f %% of the rows agree, and %.1f %% but for guidance; it was at least %.1f and %.1f", agreed, roads, folder.least, folder.roads)
			}
		})
	}
}

// minShare is the minimum share of the rows of a file of car or guidance, in percent. A file below it needs a reason here.
const minShare = 70

// checkFiles checks the share of each file.
func checkFiles(t *testing.T, outcomes []outcome) {
	t.Helper()
	files := map[string]*count{}
	for i := range outcomes {
		o := &outcomes[i]
		if files[o.File] == nil {
			files[o.File] = &count{}
		}
		files[o.File].add(o)
	}
	for file, c := range files {
		if share := c.share(c.agreed); share < minShare && c.rows > c.skipped {
			t.Errorf("%s: %.1f %% of the rows agree, and no reason is given", file, share)
		}
	}
}

// count counts the results of the rows of a file.
type count struct{ rows, skipped, agreed, roads int }

func (c *count) add(o *outcome) {
	c.rows++
	switch {
	case o.Skip != "":
		c.skipped++
	case len(o.Differs) == 0:
		c.agreed++
		c.roads++
	case o.Roads:
		c.roads++
	}
}

func (c *count) share(of int) float64 { return 100 * float64(of) / float64(max(1, c.rows-c.skipped)) }

func report(t *testing.T, outcomes []outcome, show string) count {
	files, skipped, total := map[string]*count{}, map[string]int{}, count{}
	var text strings.Builder
	for i := range outcomes {
		o := &outcomes[i]
		if files[o.File] == nil {
			files[o.File] = &count{}
		}
		files[o.File].add(o)
		total.add(o)
		if o.Skip != "" {
			skipped[o.Skip]++
		} else if at := fmt.Sprintf("%s:%d", o.File, o.Line); len(o.Differs) > 0 && show != "" && (show == "all" || strings.Contains(at, show)) {
			fmt.Fprintf(&text, "%s %s (roads %t)\n    %s\n", at, o.Scenario, o.Roads, strings.Join(o.Differs, "\n    "))
		}
	}
	fmt.Fprintf(&text, "%-55s %5s %8s %7s %7s %7s\n", "file", "rows", "compared", "agree", "share", "roads")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		writeCount(&text, file, files[file])
	}
	writeCount(&text, "all", &total)
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		fmt.Fprintf(&text, "%5d rows are not compared: %s\n", skipped[reason], reason)
	}
	t.Log("\n" + text.String())
	return total
}

func writeCount(to *strings.Builder, name string, c *count) {
	fmt.Fprintf(to, "%-55s %5d %8d %7d %6.1f%% %6.1f%%\n", name, c.rows, c.rows-c.skipped, c.agreed, c.share(c.agreed), c.share(c.roads))
}
