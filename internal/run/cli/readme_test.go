package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/openfeeds"
	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shellBlocks returns the blocks of shell commands in a document.
func shellBlocks(text string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestCommandsOfReadme checks that the commands in README.md and in the quickstart parse, and that the files that they lead to
// exist.
func TestCommandsOfReadme(t *testing.T) {
	for _, name := range []string{"README.md", "docs/quickstart.md"} {
		text := readDocument(t, name)
		found := 0
		for line := range strings.Lines(strings.Join(shellBlocks(text), "\n")) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
			line = strings.TrimPrefix(line, "sudo ")
			if !strings.HasPrefix(line, "wayside ") {
				continue
			}
			found++
			parser, err := newParser(new(grammar), &program{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(strings.Fields(line)[1:]); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
		}
		if found < 2 {
			t.Errorf("%s has %d commands", name, found)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("../../..", filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		makefile := readDocument(t, "Makefile")
		for _, m := range regexp.MustCompile("(?m)(?:^|`)make (\\w+)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+": ") {
				t.Errorf("%s: there is no make %s", name, m[1])
			}
		}
	}
}

// TestCountsOfReadme verifies that the counts in README.md are those of the code: formats, feeds, countries, languages of guidance.
func TestCountsOfReadme(t *testing.T) {
	text := readDocument(t, "README.md")
	feeds, err := openfeeds.Load("")
	if err != nil {
		t.Fatal(err)
	}
	countries := map[string]bool{}
	for _, f := range feeds {
		if f.Country != "" {
			countries[f.Country] = true
		}
	}
	words, err := filepath.Glob("../../drive/nav/guide/words/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	numerals := map[int]string{6: "six", 7: "seven", 13: "thirteen"}
	for _, claim := range []string{
		numerals[len(bridge.Names())] + " formats",
		fmt.Sprintf("%d feeds in %d countries", len(feeds), len(countries)),
		fmt.Sprintf("%d open feeds", len(feeds)),
		numerals[len(words)] + " languages",
	} {
		if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(text), " ")), claim) {
			t.Errorf("README.md does not say %q", claim)
		}
	}
}

// TestComparisonOfReadme verifies that each line of the comparison in README.md names a capability whose module exists, and
// that no line denies a module that does.
func TestComparisonOfReadme(t *testing.T) {
	modules := map[string]string{ // by line of the table: the module that implements it; empty: none yet
		"your own server and your own data":                "internal/run/cli/serve.go",
		"opens in a car's browser":                         "web/overlay/src/main.ts",
		"police, hazards, jams, cameras ahead, with sound": "web/overlay/src/alerts/alertsounds.ts",
		"own speed":                                 "web/overlay/src/panels/speedometer.ts",
		"confirm while passing":                     "web/overlay/src/panels/stillthere.ts",
		"report from the car":                       "web/overlay/src/report",
		"search, routes and spoken directions":      "web/overlay/src/nav",
		"led around a closure, with the reason":     "internal/drive/nav/session",
		"apps of others beside the map":             "web/overlay/src/apps",
		"opens without network, installable":        "web/overlay/src/offline/offline.ts",
		"live data of a country without any set-up": "",
	}
	_, table, _ := strings.Cut(readDocument(t, "README.md"), "## Compared")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| ([a-z][^|]*) \| ([^|]*) \|`).FindAllStringSubmatch(table, -1)
	if len(rows) != len(modules) {
		t.Errorf("the comparison has %d lines, the test knows %d", len(rows), len(modules))
	}
	for _, row := range rows {
		module, known := modules[row[1]]
		if !known {
			t.Errorf("no module is known for the line %q", row[1])
			continue
		}
		if says := strings.HasPrefix(row[2], "yes"); says != (module != "") {
			t.Errorf("%s: README.md says %q, and its module is %q", row[1], row[2], module)
		}
		if module != "" {
			if _, err := os.Stat(filepath.Join("../../..", module)); err != nil {
				t.Errorf("%s: %v", row[1], err)
			}
		}
	}
}

// TestReadmeLeadsToAllDocuments verifies that each page of docs is linked from README.md, or from a page that is.
func TestReadmeLeadsToAllDocuments(t *testing.T) {
	reached := map[string]bool{}
	next := []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+\.md)(#[^)]*)?\)`).FindAllStringSubmatch(readDocument(t, page), -1) {
			linked := filepath.Join(filepath.Dir(page), m[1])
			if !reached[linked] && !strings.HasPrefix(linked, "..") {
				reached[linked] = true
				next = append(next, linked)
			}
		}
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"operating", "bridges"} {
		more, err := filepath.Glob("../../../docs/" + folder + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	if len(pages) < 30 {
		t.Errorf("docs has %d pages", len(pages))
	}
	for _, page := range pages {
		if page = strings.TrimPrefix(filepath.ToSlash(page), "../../../"); !reached[page] {
			t.Errorf("no page leads to %s", page)
		}
	}
}

// TestQuickstart follows docs/quickstart.md with the real program: setup with its answers, serve, and the line that pushes the row,
// and checks that a guest sees the pin.
func TestQuickstart(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("SKIPPED: the quickstart needs " + tool)
		}
	}
	t.Parallel()
	var push string
	for _, block := range shellBlocks(readDocument(t, "docs/quickstart.md")) {
		if strings.HasPrefix(block, "curl ") {
			push = block
		}
	}
	dir, address := t.TempDir(), systemtest.FreeAddress(t)
	if code, stdout, stderr := setupIn(t, dir, "http://"+address+"\n\n\nme@example.org\n"); code != exitOK {
		t.Fatalf("setup: %d\n%s%s", code, stdout, stderr)
	}
	s := &systemtest.Service{T: t, Bin: testenv.Program(t), Dir: filepath.Join(dir, "wayside-data"), File: filepath.Join(dir, "wayside.toml")}
	s.Start(nil)
	me := &systemtest.Client{Service: s}
	token := verifyLink.FindStringSubmatch(s.CLI("account", "login-link", "--email", "me@example.org"))
	resp, body := me.Do(http.MethodPost, "/v2/auth/verify", map[string]string{"token": token[2]})
	if len(resp.Cookies()) == 0 {
		t.Fatalf("sign in: %s", body)
	}
	me.Cookie = resp.Cookies()[0]
	feed := me.Register("Mine")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", push)
	cmd.Env = append(os.Environ(), "BASE=http://"+address, "TOKEN="+feed.Token)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"accepted":1`) {
		t.Fatalf("%s: %v\n%s", push, err, out)
	}
	guest := &systemtest.Client{Service: s}
	systemtest.Eventually(t, "the pin is seen", func() bool {
		ids, err := guest.Near(52.3702, 4.8952)
		return err == nil && slices.Contains(ids, "first")
	})
}
