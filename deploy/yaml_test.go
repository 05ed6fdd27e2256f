package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// yaml is one value of the files here, which use a small part of YAML: maps by indentation, lists and maps in one line,
// anchors and merging.
type yaml struct {
	text string           // of a value in one line, without quotes
	keys map[string]*yaml // of a map
}

// at returns the value at a path; a missing value is empty.
func (y *yaml) at(path ...string) *yaml {
	for _, key := range path {
		if y.keys[key] == nil {
			return &yaml{}
		}
		y = y.keys[key]
	}
	return y
}

// list returns the items of a list in one line.
func (y *yaml) list() []string {
	inner, ok := strings.CutPrefix(y.text, "[")
	if !ok {
		return nil
	}
	var items []string
	for item := range strings.SplitSeq(strings.TrimSuffix(inner, "]"), ",") {
		items = append(items, strings.Trim(item, ` "'`))
	}
	return items
}

// readYAML reads a file of this folder.
func readYAML(t *testing.T, name string) *yaml {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || strings.HasPrefix(line, "#")
	})
	anchors := make(map[string]*yaml)
	root, rest := readMap(lines, 0, anchors)
	if len(rest) > 0 || len(root.keys) == 0 {
		t.Fatalf("%s: cannot read from %q on", name, rest)
	}
	return root
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// readMap parses the lines with the given indentation, and returns the rest. Lists of several lines are skipped.
func readMap(lines []string, indent int, anchors map[string]*yaml) (*yaml, []string) {
	m := &yaml{keys: make(map[string]*yaml)}
	for len(lines) > 0 && indentOf(lines[0]) >= indent {
		line := strings.TrimSpace(lines[0])
		lines = lines[1:]
		key, value, ok := strings.Cut(line, ":")
		if strings.HasPrefix(line, "-") || !ok {
			continue
		}
		value, _, _ = strings.Cut(strings.TrimSpace(value), " #")
		if name, ok := strings.CutPrefix(value, "*"); ok && key == "<<" {
			for k, v := range anchors[name].keys {
				m.keys[k] = v // a key of the map itself replaces a merged one
			}
			continue
		}
		child := &yaml{text: strings.Trim(value, `"'`)}
		if value == "" || strings.HasPrefix(value, "&") {
			deeper := indent + 1
			if len(lines) > 0 {
				deeper = max(deeper, indentOf(lines[0]))
			}
			child, lines = readMap(lines, deeper, anchors)
			anchors[strings.TrimPrefix(value, "&")] = child
		}
		m.keys[key] = child
	}
	return m, lines
}
