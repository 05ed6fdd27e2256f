package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/feeds/bridge"
	"wayside/internal/proof/testenv"
)

// example is a block of commands that makes its own documents, and the block that shows what they print.
var example = regexp.MustCompile("(?ms)^```sh\n(cat > .*?)^```\n\n```\n(.*?)^```$")

// inShell runs commands in an empty folder, in which wayside is the given program.
func inShell(t *testing.T, program, commands string) string {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "wayside")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", commands)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
	return string(out)
}

// TestExamplesOfBridges runs the worked example on the page of each format in a shell, and checks that it prints the output on the
// page.
func TestExamplesOfBridges(t *testing.T) {
	t.Parallel()
	program := testenv.Program(t)
	for _, f := range bridge.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			found := example.FindStringSubmatch(readDocument(t, "docs/bridges/"+f.Name+".md"))
			if found == nil || !strings.Contains(found[1], "\nwayside convert --from "+f.Name+" ") {
				t.Fatal("no worked example")
			}
			if out := inShell(t, program, found[1]); out != found[2] {
				t.Errorf("the page shows\n%s\nbut its commands print\n%s", found[2], out)
			}
		})
	}
}

// TestCommandsOfBridges checks that all commands on the pages about formats parse, and that feeds of formats with schedules name
// their zone, because without one such items are skipped.
func TestCommandsOfBridges(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/bridges/*.md")
	if err != nil || len(pages) < len(bridge.Formats()) {
		t.Fatal(pages, err)
	}
	words := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(words, []byte("#!/bin/sh\nprintf '%s\\037' \"$@\" >&2\necho >&2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../../docs/bridges.md") {
		for _, block := range shellBlocks(readDocument(t, strings.TrimPrefix(page, "../../../"))) {
			for line := range strings.Lines(inShell(t, words, block)) {
				args := strings.Split(strings.TrimSuffix(line, "\x1f\n"), "\x1f")
				parser, err := newParser(new(grammar), &program{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}, func(int) {})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parser.Parse(args); err != nil {
					t.Errorf("%s: wayside %q: %v", page, args, err)
				}
				for i, flag := range args[:len(args)-1] {
					if _, known := bridge.Lookup(args[i+1]); !known && (flag == "--format" || flag == "--from") {
						t.Errorf("%s: wayside %q: no such format", page, args)
					}
				}
				scheduled := slices.ContainsFunc([]string{"datex2", "open511", "cifs"}, func(name string) bool { return slices.Contains(args, name) })
				if scheduled && !slices.Contains(args, "--time-zone") {
					t.Errorf("%s: wayside %q names no time zone", page, args)
				}
			}
		}
	}
}
