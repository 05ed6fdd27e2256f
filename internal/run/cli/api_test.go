package cli

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"wayside/internal/run/config"
)

//go:generate go test . -run ^TestAPI$ -update

var update = flag.Bool("update", false, "write api.txt")

const (
	apiFile      = "../../../api.txt"          // every public name, as the code has it now
	releasedFile = "../../../api-released.txt" // as the last release had it; make cut copies it
	changedFiles = "../../../changelog/unreleased/*.changed.md"
)

// TestAPI holds that api.txt lists every public name of the program, and that none of them goes or changes unless a file in
// changelog/unreleased names it (docs/decisions/0030-api.md). -update writes api.txt.
func TestAPI(t *testing.T) {
	now := slices.Concat(commandLines(t), configLines(t), documentLines(t), metricLines(t))
	slices.Sort(now)
	now = slices.Compact(now)
	committed, released := readLines(t, apiFile), readLines(t, releasedFile)
	for _, line := range unannounced(slices.Concat(committed, released), now, readChanges(t)) {
		t.Errorf("%q is gone or changed: a file changelog/unreleased/….changed.md must say what to use instead and name `%s`", line, nameOf(line))
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(apiFile, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !slices.Equal(committed, now) {
		t.Errorf("api.txt lacks %q, and has %q besides: run go generate ./internal/run/cli", without(now, committed), without(committed, now))
	}
}

// TestUnannounced holds what counts as announced.
func TestUnannounced(t *testing.T) {
	const before, after = "field Entity.lat: number", "field Entity.lat: string"
	parameter := "parameter GET /v2/alerts radius: number, in query"
	tests := []struct {
		name         string
		removed, now string
		changes      string
		want         bool
	}{
		{"what is still there", before, before, "", false},
		{"a field that is gone", before, "", "", true},
		{"a field that is gone, by its name", before, "", "`Entity.lat` is gone; use `position`.", false},
		{"a field that changes", before, after, "", true},
		{"a field that changes, by its name", before, after, "`Entity.lat` is text.", false},
		{"the name of its schema", before, "", "`Entity` is gone.", false},
		{"a name that only begins alike", before, "", "`Entity.la` is gone, and `Ent` and `Entity.latitude`.", true},
		{"a name that is not in backticks", before, "", "Entity.lat is gone.", true},
		{"a parameter of a route that is gone", parameter, "", "`GET /v2/alerts` is gone.", false},
		{"a parameter of another route", parameter, "", "`GET /v2/alert` is gone.", true},
		{"a flag of a command", "flag wayside feed list --json: bool", "", "`wayside feed list` is gone.", false},
		{"a value of a field", "value Entity.status = fading", "", "`Entity.status` has no `fading`.", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := unannounced([]string{tt.removed}, []string{tt.now}, tt.changes); len(got) > 0 != tt.want {
				t.Errorf("unannounced: %q, want one: %t", got, tt.want)
			}
		})
	}
}

// TestAPIAtARemoval holds that what TestAPI compares notices a line of api.txt that the code no longer has, and that there are lines of
// each kind.
func TestAPIAtARemoval(t *testing.T) {
	committed := readLines(t, apiFile)
	for i := 0; i < len(committed); i += 101 {
		line := committed[i]
		now := slices.Delete(slices.Clone(committed), i, i+1)
		if got := unannounced(committed, now, ""); !slices.Equal(got, []string{line}) {
			t.Fatalf("without %q: unannounced %q", line, got)
		}
		if got := unannounced(committed, now, "x `"+nameOf(line)+"` y"); len(got) > 0 {
			t.Fatalf("without %q, which is announced: unannounced %q", line, got)
		}
	}
	kinds := map[string]int{}
	for _, line := range committed {
		kind, _, _ := strings.Cut(line, " ")
		kinds[kind]++
	}
	for kind, least := range map[string]int{"answer": 300, "command": 30, "config": 60, "field": 500, "flag": 100, "metric": 30, "parameter": 100, "request": 20, "route": 110, "value": 100} {
		if kinds[kind] < least {
			t.Errorf("api.txt has %d lines of %s, want %d at least", kinds[kind], kind, least)
		}
	}
}

// unannounced returns the lines of before that now lacks and that no text in backticks of changes names: by the name of the line, or
// by that of what holds it.
func unannounced(before, now []string, changes string) []string {
	named := regexp.MustCompile("`[^`]+`").FindAllString(changes, -1)
	var found []string
	for _, line := range without(before, now) {
		name := nameOf(line)
		if !slices.ContainsFunc(named, func(quoted string) bool {
			rest, ok := strings.CutPrefix(name, strings.Trim(quoted, "`"))
			return ok && (rest == "" || strings.ContainsAny(rest[:1], " .[{"))
		}) && !slices.Contains(found, line) {
			found = append(found, line)
		}
	}
	return found
}

// without returns the lines of all that are not in others.
func without(all, others []string) []string {
	known := make(map[string]bool, len(others))
	for _, line := range others {
		known[line] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return known[line] })
}

// nameOf returns the name that a line of api.txt promises: what stands between its first word and its type or value.
func nameOf(line string) string {
	_, name, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, ": ")
	name, _, _ = strings.Cut(name, " = ")
	return name
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// readChanges returns what the changelog says of what changes and is not released yet.
func readChanges(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob(changedFiles)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		all.WriteString("\n")
	}
	return all.String()
}

// commandLines lists commands, their arguments and their flags.
func commandLines(t *testing.T) []string {
	t.Helper()
	parser, err := newParser(new(grammar), &program{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var add func(node *kong.Node)
	add = func(node *kong.Node) {
		path := strings.TrimSpace("wayside " + commandPath(node))
		all = append(all, "command "+path)
		for _, argument := range node.Positional {
			all = append(all, fmt.Sprintf("argument %s %s: %s%s", path, argument.Name, argument.Target.Type(), orRequired(argument.Required)))
			all = append(all, values(path+" "+argument.Name, argument.Tag.Enum)...)
		}
		for _, flag := range node.Flags {
			all = append(all, fmt.Sprintf("flag %s --%s: %s%s", path, flag.Name, strings.TrimPrefix(flag.Target.Type().String(), "*"), orRequired(flag.Required)))
			all = append(all, values(path+" --"+flag.Name, flag.Tag.Enum)...)
		}
		for _, child := range node.Children {
			add(child)
		}
	}
	add(parser.Model.Node)
	return all
}

func orRequired(required bool) string {
	if required {
		return ", required"
	}
	return ""
}

// values lists the values that something may have, of a text with commas between them.
func values(name, text string) []string {
	var all []string
	for value := range strings.SplitSeq(text, ",") {
		if value != "" {
			all = append(all, "value "+name+" = "+value)
		}
	}
	return all
}

// configLines lists the keys of the configuration with the types of their values, as wayside config prints them.
func configLines(t *testing.T) []string {
	t.Helper()
	const upstream = "[[upstreams]]\nname = \"a\"\nurl = \"https://example.org/a\"\nsecret = \"s\"\nform = \"incidents\"\npriority = 1\nattribution = \"b\"\narea = [1.5, 2.5, 3.5, 4.5]\n"
	file := filepath.Join(t.TempDir(), "wayside.toml")
	load := func(text string) (*config.Config, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return config.Load(config.Input{File: file})
	}
	cfg, err := load(upstream)
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := cfg.WriteTOML(&printed); err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if _, err := toml.Decode(printed.String(), &shown); err != nil {
		t.Fatal(err)
	}
	var all, known []string
	var add func(prefix string, table map[string]any)
	add = func(prefix string, table map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			key := prefix + name
			entries, several := table[name].([]map[string]any)
			inner, section := table[name].(map[string]any)
			switch {
			case several:
				all = append(all, "config "+key+": tables")
				known = slices.Collect(maps.Keys(entries[0]))
				add(key+".", entries[0])
			case section && !slices.Contains(config.Keys(), key):
				add(key+".", inner)
			default:
				all = append(all, fmt.Sprintf("config %s: %s", key, tomlType(table[name])))
			}
		}
	}
	add("", shown)
	// The service lists the keys of an upstream when it meets another one: this test must set all of them.
	_, err = load(upstream + "other = 1\n")
	if err == nil {
		t.Fatal("upstreams take any key")
	}
	listed := regexp.MustCompile(`known are ([a-z, _]+)`).FindStringSubmatch(err.Error())
	if listed == nil || len(without(strings.Split(listed[1], ", "), known)) > 0 {
		t.Errorf("keys of upstreams are %q, this test sets %q", listed, known)
	}
	return all
}

func tomlType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case int64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "list"
	case map[string]any:
		return "table"
	default:
		return fmt.Sprintf("%T", v)
	}
}
