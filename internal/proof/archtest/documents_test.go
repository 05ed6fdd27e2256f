package archtest

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDecisionNumbers checks that the numbers of decisions increase from row to row and are unique, because decisions
// are cited by number.
func TestDecisionNumbers(t *testing.T) {
	last := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| `).FindAllStringSubmatch(read(t, "docs/decisions/README.md"), -1) {
		number, err := strconv.Atoi(row[1])
		if err != nil || number <= last {
			t.Errorf("decision %s comes after decision %d", row[1], last)
		}
		last = number
	}
	if last < 192 {
		t.Errorf("the last decision that was read is %d", last)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks checks that the target of each link within the repository exists, including the heading.
func TestLinks(t *testing.T) {
	links := 0
	for _, name := range slices.Concat(files(t, "*.md"), files(t, "docs/*.md"), files(t, "docs/*/*.md")) {
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(m[1], ":") {
				continue // a URL of another host, or an e-mail address
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := fs.Stat(os.DirFS(root), target); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s: there is no such heading", name, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were read", links)
	}
}

// anchors returns the anchors of the headings of a document.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}
