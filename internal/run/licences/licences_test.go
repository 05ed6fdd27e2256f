package licences

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write texts.txt")

const root = "../../.."

// TestTextsAreComplete checks that texts.txt has the licence texts of every module that is built into the program, for
// each system for which it is released, and of the components for browsers; -update writes it.
func TestTextsAreComplete(t *testing.T) {
	var out strings.Builder
	goroot := strings.TrimSpace(run(t, nil, "env", "GOROOT"))
	part(t, &out, "Go standard library", goroot)
	for _, m := range modules(t) {
		part(t, &out, m.path+" "+m.version, m.dir)
	}
	text, err := os.ReadFile(filepath.Join(root, "web/dist/overlay/maplibre-licence.txt"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%snpm:maplibre-gl %s\n\n%s\n", heading, maplibreVersion(t), text)
	if *update {
		if err := os.WriteFile("texts.txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() != Text() {
		t.Error("texts.txt is not that of the modules in use: run go generate ./internal/run/licences")
	}
}

type module struct{ path, version, dir string }

// modules returns the modules of the program, for all systems.
func modules(t *testing.T) []module {
	t.Helper()
	found := make(map[module]bool)
	for _, system := range []string{"linux", "darwin", "windows"} {
		out := run(t, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/wayside")
		for line := range strings.Lines(out) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
				found[module{fields[0], fields[1], fields[2]}] = true
			}
		}
	}
	var all []module
	for m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	if len(all) < 20 {
		t.Fatalf("only %d modules were found", len(all))
	}
	return all
}

func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v", args, err)
	}
	return string(out)
}

// part writes the licence files of one module.
func part(t *testing.T, out *strings.Builder, name, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "%s%s\n", heading, name)
	written := 0
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		known := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"}, func(prefix string) bool { return strings.HasPrefix(upper, prefix) })
		if e.IsDir() || !known || strings.HasSuffix(upper, ".GO") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		clean := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(text), "?"), "\r\n", "\n"))
		fmt.Fprintf(out, "\n---- %s\n\n%s\n", e.Name(), clean)
		written++
	}
	if written == 0 {
		t.Errorf("%s has no licence file in its root: its terms are not known", name)
	}
	out.WriteString("\n")
}

func maplibreVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "web/package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(text, &lock); err != nil || lock.Packages["node_modules/maplibre-gl"].Version == "" {
		t.Fatalf("package-lock.json has no version of maplibre-gl: %v", err)
	}
	return lock.Packages["node_modules/maplibre-gl"].Version
}
