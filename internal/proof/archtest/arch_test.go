package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"wayside/internal/ground/mapdata"
)

// root is the path of the module's directory from here.
const root = "../../.."

func kindIDs() []string {
	var ids []string
	for _, k := range mapdata.Kinds() {
		ids = append(ids, k.ID)
	}
	return ids
}

// TestHouse reads the module once for all that it checks.
func TestHouse(t *testing.T) {
	all, err := readModule(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(s source) bool { return s.path == kindsFile }) {
		t.Fatalf("%s is not among the %d files read: nothing was checked", kindsFile, len(all))
	}
	for _, c := range checks(kindIDs()) {
		t.Run(c.name, func(t *testing.T) {
			for _, finding := range c.find(all) {
				t.Error(finding)
			}
		})
	}
	t.Run("docs/packages.md lists every package", func(t *testing.T) { checkArchitecture(t, all) })
	t.Run("comments of functions begin with what they do", func(t *testing.T) { checkVerbs(t, all) })
	t.Run("goroutines are found", func(t *testing.T) { checkGoroutines(t, all) })
}

// twoScreens is how many lines docs/ARCHITECTURE.md may have.
const twoScreens = 110

// checkArchitecture checks that docs/packages.md has a row for each package and no other, and that docs/ARCHITECTURE.md fits two screens
// and names each district.
func checkArchitecture(t *testing.T, all []source) {
	t.Helper()
	overview := read(t, "docs/ARCHITECTURE.md")
	if lines := strings.Count(overview, "\n"); lines > twoScreens {
		t.Errorf("docs/ARCHITECTURE.md has %d lines, more than %d", lines, twoScreens)
	}
	for _, d := range districts {
		if !strings.Contains(overview, d.name) {
			t.Errorf("docs/ARCHITECTURE.md does not name the district %s", d.name)
		}
	}
	for _, finding := range checkRows(all, read(t, "docs/packages.md")) {
		t.Error(finding)
	}
}

func TestCheckRows(t *testing.T) {
	all, err := readModule(fstest.MapFS{
		"internal/a/a.go": {Data: []byte("package a")}, "internal/b/c/c.go": {Data: []byte("package c")},
		"cmd/x/main.go": {Data: []byte("package main")}, "deploy/deploy_test.go": {Data: []byte("package deploy")},
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := "| package | what it is |\n| --- | --- |\n| `internal/a` | a |\n| `internal/b/c` | c |\n| `cmd/x` | x |\n"
	tests := []struct{ name, text, want string }{
		{"all rows", whole, ""},
		{"a package that only the prose names", strings.Replace(whole, "| `internal/a` | a |", "`internal/a` and `a`", 1), "no row for `internal/a`"},
		{"a row too many", whole + "| `internal/gone` | g |\n", "a row for `internal/gone`"},
		{"a row for a family", strings.Replace(whole, "| `internal/b/c` | c |", "| `internal/b/*` | b |", 1), ""},
		{"a row for a family that is not there", whole + "| `internal/b/*` | b |\n", "a row for `internal/b/*`"},
		{"a row for a folder without Go", whole + "| `web` | pages |\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantFinding(t, checkRows(all, tt.text), tt.want) })
	}
}

// TestCheckTable uses its own tables, because the errors in a table depend on the whole module.
func TestCheckTable(t *testing.T) {
	all, err := readModule(fstest.MapFS{
		"internal/a/a.go": {Data: []byte(`package a; import _ "wayside/internal/b"`)}, "internal/b/b.go": {Data: []byte("package b")},
		"internal/a/a_test.go": {Data: []byte(`package a; import _ "wayside/internal/c"`)}, "internal/c/c.go": {Data: []byte("package c")},
		"internal/feeds/format/x/x.go": {Data: []byte(`package x; import _ "wayside/internal/b"`)},
		"internal/feeds/format/y/y.go": {Data: []byte(`package y; import _ "wayside/internal/c"`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		entry   string
		permits []string
		want    string
	}{
		{"what is used", "a", []string{"b"}, ""},
		{"what only a test uses", "a", []string{"b", "c"}, `a does not import c: remove "c"`},
		{"everything", "b", []string{anything}, ""},
		{"a package that is not there", "gone", []string{"b"}, "there is no package internal/gone"},
		{"a folder, used by one package each", "feeds/format/*", []string{"b", "c"}, ""},
		{"a folder, used by none", "feeds/format/*", []string{"a", "b", "c"}, `feeds/format/* does not import a: remove "a"`},
		{"a folder that is not there", "far/*", nil, "there is no package internal/far/*"},
		{"a package beside its folder", "feeds/format/x", []string{"b"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantFinding(t, checkTable(all, map[string]rule{tt.entry: {ours: tt.permits}}), tt.want)
		})
	}
}

func TestEntryFor(t *testing.T) {
	table := map[string]rule{"format/*": {}, "format/special": {}, "geo": {}}
	for pkg, want := range map[string]string{"format/waze": "format/*", "format/special": "format/special", "geo": "geo"} {
		if got := entryFor(table, pkg); got != want {
			t.Errorf("entryFor(%s) = %s, want %s", pkg, got, want)
		}
	}
	for _, pkg := range []string{"other", "format", "format/a/b"} {
		if _, listed := table[entryFor(table, pkg)]; listed {
			t.Errorf("%s is taken for listed, by %s", pkg, entryFor(table, pkg))
		}
	}
}

// wantFinding fails unless there is exactly one finding, with a text, or none where the text is empty.
func wantFinding(t *testing.T, found []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(found) > 0:
		t.Errorf("found %q, want nothing", found)
	case want != "" && (len(found) != 1 || !strings.Contains(found[0], want)):
		t.Errorf("found %q, want one with %q", found, want)
	}
}

// TestChecksFind checks that every check finds a violation.
func TestChecksFind(t *testing.T) {
	long := "// Package x is.\npackage x\n\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", 80) + "}\n"
	tests := []struct {
		name, check, path, text string
		want                    string // part of the one finding; empty: none
	}{
		{"an allowed import", "imports follow the table", "internal/feeds/ingest/a.go", `package ingest; import _ "wayside/internal/ground/mapdata"`, ""},
		{"an import across", "imports follow the table", "internal/feeds/ingest/a.go", `package ingest; import _ "wayside/internal/entities/index"`, "may not import entities/index"},
		{"an import that is never allowed", "imports follow the table", "internal/feeds/provider/push/a.go", `package push; import _ "net/http"`, "must never import net/http"},
		{"a driver under another name", "imports follow the table", "internal/feeds/feed/a.go", `package feed; import q "database/sql/driver"`, "must never import database/sql/driver"},
		{"a package that is not listed", "imports follow the table", "internal/ground/new/a.go", `package new`, "is not in archtest's table"},
		{"a command that knows more than cli", "imports follow the table", "cmd/wayside/main.go", `package main; import _ "wayside/internal/run/config"`, "may not import run/config"},
		{"tests may import more", "imports follow the table", "internal/feeds/ingest/a_test.go", `package ingest; import _ "wayside/internal/entities/index"`, ""},
		{"no doc", "every package has a doc comment", "internal/x/a.go", "package x", "no package comment"},
		{"a long function", "no file and no function is too long", "internal/x/a.go", long, "f has 82 lines"},
		{"a long file", "no file and no function is too long", "internal/x/a.go", "package x\n" + strings.Repeat("\n", 600), "601 lines"},
		{"a long file of tests", "no file and no function is too long", "internal/x/a_test.go", "package x\n" + strings.Repeat("\n", 600), "601 lines"},
		{"a long table of a test", "no file and no function is too long", "internal/x/a_test.go", long, ""},
		{"an init", "no init functions", "internal/x/a.go", "package x; func init() {}", "init hides"},
		{"a method may be called so", "no init functions", "internal/x/a.go", "package x; type T int; func (T) init() {}", ""},
		{"a sleep", "nothing sleeps", "internal/x/a_test.go", `package x; import "time"; func f() { time.Sleep(1) }`, "time.Sleep"},
		{"a sleep in a bubble", "nothing sleeps", "internal/x/a_test.go", `package x; import ("time"; _ "testing/synctest"); func f() { time.Sleep(1) }`, ""},
		{"a sleep in a job", "nothing sleeps", "internal/x/a.go", `package x; import ("time"; _ "testing/synctest"); func f() { time.Sleep(1) }`, "time.Sleep"},
		{"a sleep under another name", "nothing sleeps", "internal/x/a_test.go", `package x; import tm "time"; func f() { tm.Sleep(1) }`, "time.Sleep"},
		{"a vague file", "names say what is inside", "internal/x/helpers.go", "package x", "says nothing"},
		{"a vague package", "names say what is inside", "internal/util/a.go", "package util", "says nothing"},
		{"a riddle in a comment", "comments use plain words", "internal/x/a_test.go", "package x\n\n// f is for whoever asks.\nfunc f() {}\n", `"whoever"`},
		{"a riddle over two lines", "comments use plain words", "internal/x/a.go", "package x\n\n// f is right if the log says\n// so.\nfunc f() {}\n", `"says so"`},
		{"words of the program", "comments use plain words", "internal/x/a.go", "package x\n\nconst a = \"The service says so.\"\n", ""},
		{"a tag in the words", "wire shapes live in the packages of the wire", "internal/ground/mapdata/a.go", "package mapdata; type T struct { A int `json:\"a\"` }", "JSON tag"},
		{"a tag on the wire", "wire shapes live in the packages of the wire", "internal/http/httpapi/a.go", "package httpapi; type T struct { A int `json:\"a\"` }", ""},
		{"the environment", "one package reads the environment", "internal/people/mail/a.go", `package mail; import "os"; var a = os.Getenv("A")`, "os.Getenv"},
		{"a kind elsewhere", "kinds are listed in one file", "internal/http/httpapi/a.go", `package httpapi; var a = "camera.speed"`, "kind camera.speed"},
		{"a kind in a mapping", "kinds are listed in one file", "internal/feeds/format/waze/vocabulary.go", `package waze; var a = "alert.police"`, ""},
		{"a kind beside a mapping", "kinds are listed in one file", "internal/feeds/provider/relay/raw.go", `package waze; var a = "alert.police"`, "kind alert.police"},
		{"a kind in a test", "kinds are listed in one file", "internal/http/httpapi/a_test.go", `package httpapi; var a = "camera.speed"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := readModule(fstest.MapFS{tt.path: {Data: []byte(tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(checks(nil), func(c check) bool { return c.name == tt.check })
			wantFinding(t, checks(kindIDs())[i].find(all), tt.want)
		})
	}
}

func TestNestedModulesAreLeftOut(t *testing.T) {
	all, err := readModule(fstest.MapFS{
		"tools/go.mod": {Data: []byte("module tools")}, "tools/a.go": {Data: []byte("package tools")},
		"x/testdata/a.go": {Data: []byte("no Go at all")}, ".hidden/a.go": {Data: []byte("no Go at all")}, "x/a.go": {Data: []byte("package x")},
	})
	if err != nil || len(all) != 1 || all[0].path != "x/a.go" {
		t.Errorf("read %d files, %v", len(all), err)
	}
}
