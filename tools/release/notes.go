package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	changes    = "CHANGELOG.md"
	unreleased = "changelog/unreleased"
	noRelease  = "No release yet.\n"

	publicNames   = "api.txt"
	releasedNames = "api-released.txt"
)

// group is a heading of the notes. A file such as 0013-sessions.security.md belongs to the group in its name; a file without a
// group belongs to the first one.
type group struct{ name, heading string }

func groups() []group {
	return []group{{"", "Added"}, {"changed", "Changed"}, {"fixed", "Fixed"}, {"security", "Security"}}
}

// gather returns the texts of the files in changelog/unreleased, by group and in the order of the files' names, and the paths of
// the files.
func gather(root string) (text string, paths []string, err error) {
	paths, err = filepath.Glob(filepath.Join(root, unreleased, "*.md"))
	if err != nil {
		return "", nil, err
	}
	slices.Sort(paths)
	lines := map[string][]string{}
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			return "", nil, err
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".md"), ".")
		if !slices.ContainsFunc(groups(), func(g group) bool { return g.name == name }) {
			return "", nil, fmt.Errorf("%s: %q is not a group; changed, fixed and security are", path, name)
		}
		words := strings.Fields(string(body))
		if len(words) == 0 {
			return "", nil, fmt.Errorf("%s is empty", path)
		}
		// CHANGELOG.md is at the root of the repository, two folders above.
		text := strings.ReplaceAll(strings.Join(words, " "), "](../../", "](")
		lines[name] = append(lines[name], "- "+strings.TrimPrefix(text, "- "))
	}
	var b strings.Builder
	for _, g := range groups() {
		if len(lines[g.name]) > 0 {
			fmt.Fprintf(&b, "### %s\n\n%s\n\n", g.heading, strings.Join(lines[g.name], "\n"))
		}
	}
	return b.String(), paths, nil
}

// writeNotes writes the notes of the release: the unreleased changes or, once the release is cut, the version's section of
// CHANGELOG.md.
func (r *release) writeNotes() error {
	text, paths, err := gather(r.root)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		all, err := os.ReadFile(filepath.Join(r.root, changes))
		if err != nil {
			return err
		}
		if text, err = section(string(all), r.version); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.out, "NOTES.md"), []byte("# Wayside "+r.version+"\n\n"+text), 0o644)
}

// section returns the section of CHANGELOG.md about a version.
func section(all, version string) (string, error) {
	_, text, found := strings.Cut(all, "\n## "+version+" ")
	if !found {
		return "", fmt.Errorf("%s has no section of %s, and %s is empty", changes, version, unreleased)
	}
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text) + "\n", nil
}

// versioned returns the files, besides those of the program, that contain the version, and the text before it in each.
func versioned() map[string]string {
	const image = "wayside:"
	return map[string]string{
		"README.md": image, "deploy/compose.yaml": image, "deploy/Dockerfile": image, "deploy/single/compose.yaml": image,
		"internal/http/httpapi/openapi.json": `{"version": "`,
	}
}

// cut makes a release of what is unreleased: CHANGELOG.md gets a section, the files that it gathers are removed, the version
// is set in the program and in deploy/, and the public names of api.txt become those that were released.
func cut(args []string) error {
	flags := flag.NewFlagSet("release cut", flag.ContinueOnError)
	root := flags.String("root", "../..", "root of the repository")
	day := flags.String("date", "", "day of the release, such as 2026-11-22")
	if err := flags.Parse(args); err != nil {
		return err
	}
	version := flags.Arg(0)
	if !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(version) {
		return errors.New("cut needs a version, such as 0.2.0")
	}
	if _, err := time.Parse(time.DateOnly, *day); err != nil {
		return fmt.Errorf("--date: %w", err)
	}
	text, paths, err := gather(*root)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has nothing to release", unreleased)
	}
	before, err := programVersion(*root)
	if err != nil {
		return err
	}
	if err := addSection(filepath.Join(*root, changes), version, *day, text); err != nil {
		return err
	}
	if err := replaceIn(filepath.Join(*root, versionFile), `const version = "`+before+`"`, `const version = "`+version+`"`); err != nil {
		return err
	}
	for name, prefix := range versioned() {
		if err := replaceIn(filepath.Join(*root, name), prefix+before, prefix+version); err != nil {
			return err
		}
	}
	names, err := os.ReadFile(filepath.Join(*root, publicNames))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*root, releasedNames), names, 0o644); err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	fmt.Printf("%d changes are in %s under %s; the version was %s. Look at it, commit, then: make release\n", len(paths), changes, version, before)
	// git keeps no empty folder, and the next change needs it.
	return os.WriteFile(filepath.Join(*root, unreleased, ".gitkeep"), nil, 0o644)
}

// addSection inserts the section of a version above the earlier ones.
func addSection(path, version, day, text string) error {
	all, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, earlier, found := strings.Cut(strings.Replace(string(all), "\n"+noRelease, "", 1), "\n## ")
	if found {
		earlier = "\n## " + earlier
	}
	if strings.Contains(earlier, "\n## "+version+" ") {
		return fmt.Errorf("%s has a section of %s already", path, version)
	}
	return os.WriteFile(path, []byte(strings.TrimSpace(head)+"\n\n## "+version+" ("+day+")\n\n"+strings.TrimSpace(text)+"\n"+earlier), 0o644)
}

// replaceIn replaces every occurrence in a file, which must have one. It ignores a missing file.
func replaceIn(path, old, fresh string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), old) {
		return fmt.Errorf("%s does not say %s", path, old)
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, fresh)), 0o644)
}
