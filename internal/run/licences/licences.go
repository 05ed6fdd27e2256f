// Package licences holds the licence texts of everything that is built into the program or served to browsers, and describes these
// parts as a software bill of materials.
package licences

import (
	_ "embed" // for go:embed
	"runtime/debug"
	"strings"
)

// texts are the licences of all Go modules, of Go's standard library and of the library of the maps, one after the other. The test of this
// package writes the file, from the module cache and from web/.
//
//go:generate go test . -run TestTextsAreComplete -update
//go:embed texts.txt
var texts string

// Text returns the output of `wayside licences`.
func Text() string { return texts }

// heading begins the part of one module in the texts.
const heading = "==== "

// Part is a component that is built into the program or served to browsers.
type Part struct {
	Name    string // module path, or the name of an npm package
	Version string
	Kind    string // type of a package URL: golang or npm
}

// Parts lists the components that are built into this program, by its own build information, and those that it serves to browsers.
func Parts() []Part {
	var all []Part
	if info, ok := debug.ReadBuildInfo(); ok {
		all = append(all, Part{"std", strings.TrimPrefix(info.GoVersion, "go"), "golang"})
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			all = append(all, Part{m.Path, m.Version, "golang"})
		}
	}
	for line := range strings.Lines(texts) {
		name, found := strings.CutPrefix(line, heading+"npm:")
		if name, version, _ := strings.Cut(strings.TrimSpace(name), " "); found {
			all = append(all, Part{name, version, "npm"})
		}
	}
	return all
}
