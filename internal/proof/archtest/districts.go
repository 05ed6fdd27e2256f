package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// district is a folder directly below internal/ with all packages in it.
type district struct {
	name string
	may  []string // the other districts that its packages may import
}

// districts lists the districts from the ground up: each may know only districts above it in this list, so that no arrow of imports
// leads up, and none in a circle.
var districts = []district{
	{"ground", nil},
	{"proof", nil},
	{"nodes", []string{"ground"}},
	{"store", []string{"ground"}},
	{"roads", []string{"ground"}},
	{"entities", []string{"ground"}},
	{"drive", []string{"ground", "roads", "entities"}},
	{"feeds", []string{"ground", "roads", "entities"}},
	{"people", []string{"ground"}},
	{"http", []string{"ground", "nodes", "roads", "entities", "drive", "feeds", "people"}},
	{"run", []string{"ground", "nodes", "store", "roads", "entities", "drive", "feeds", "people", "http"}},
}

// checkDistricts finds imports from one district of another that it may not know, districts that the table does not list, and what
// the table lists without need. Tests and suites may know what they test.
func checkDistricts(all []source, table []district) []string {
	may := make(map[string][]string)
	found := checkOrder(table)
	for _, d := range table {
		may[d.name] = d.may
	}
	exists := make(map[string]bool)
	used := make(map[[2]string]bool) // district, district that it imports
	for i := range all {
		s := &all[i]
		if s.pkg() == "" || s.test || slices.Contains(suites, s.pkg()) {
			continue
		}
		own := districtOf(s.pkg())
		exists[own] = true
		known, listed := may[own]
		if !listed {
			found = append(found, fmt.Sprintf("%s: internal/%s is not in archtest's table of districts (internal/proof/archtest/districts.go)", s.path, own))
			continue
		}
		for _, imported := range s.imports() {
			pkg, ours := strings.CutPrefix(imported, modulePath+"/internal/")
			other := districtOf(pkg)
			if !ours || other == own {
				continue
			}
			used[[2]string{own, other}] = true
			if !slices.Contains(known, other) {
				found = append(found, fmt.Sprintf("%s: the district %s may not know %s (it may: %s)", s.path, own, other, strings.Join(known, ", ")))
			}
		}
	}
	for _, d := range table {
		if !exists[d.name] {
			found = append(found, fmt.Sprintf("internal/proof/archtest/districts.go: there is no district internal/%s: remove its entry", d.name))
			continue
		}
		for _, other := range d.may {
			if !used[[2]string{d.name, other}] {
				found = append(found, fmt.Sprintf("internal/proof/archtest/districts.go: %s does not import %s: remove %q from its entry", d.name, other, other))
			}
		}
	}
	return found
}

// checkOrder finds permissions for what stands below their district in the table: with them, arrows could lead up.
func checkOrder(table []district) []string {
	var found, above []string
	for _, d := range table {
		for _, other := range d.may {
			if !slices.Contains(above, other) {
				found = append(found, fmt.Sprintf("internal/proof/archtest/districts.go: %s may know %s, which does not stand above it in the table", d.name, other))
			}
		}
		above = append(above, d.name)
	}
	return found
}

// districtOf returns the district of a package.
func districtOf(pkg string) string {
	name, _, _ := strings.Cut(pkg, "/")
	return name
}
