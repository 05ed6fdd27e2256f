// Command release makes the files of a release: archives for each system, .deb and .rpm packages, container images, notes and
// checksums. The same commit results in the same bytes. It runs at the root of the repository.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release holds the inputs of the files.
type release struct {
	root    string // of the repository
	out     string
	version string
	date    time.Time // of everything in the files
	program string    // a built program to use for the only target; empty: build it
	sbom    string
	texts   string // licence texts
	kinds   []string
}

// target is a system to build for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the file name of the program for the target.
func (t target) program() string {
	if t.os == "windows" {
		return "wayside.exe"
	}
	return "wayside"
}

func allTargets() []target {
	return []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "cut" {
		return cut(args[1:])
	}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", "../..", "root of the repository")
	out := flags.String("out", "bin/release", "folder to write to, below the root unless absolute")
	number := flags.String("version", "", "version; that of the program without it")
	only := flags.String("for", "", "targets such as linux/amd64,darwin/arm64; all without it")
	kinds := flags.String("kinds", "archive,deb,rpm,image,notes", "kinds of files to make")
	program := flags.String("program", "", "a built program to take instead of building; with one target in --for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	targets := allTargets()
	if *only != "" {
		targets = nil
		for name := range strings.SplitSeq(*only, ",") {
			system, arch, _ := strings.Cut(name, "/")
			targets = append(targets, target{system, arch})
		}
	}
	if *program != "" && len(targets) != 1 {
		return errors.New("--program needs one target in --for")
	}
	r := &release{root: *root, version: *number, program: *program, kinds: strings.Split(*kinds, ",")}
	var err error
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.out = *out; !filepath.IsAbs(r.out) {
		r.out = filepath.Join(r.root, r.out)
	}
	if r.version == "" {
		if r.version, err = programVersion(r.root); err != nil {
			return err
		}
	}
	if r.date, err = sourceDate(r.root); err != nil {
		return err
	}
	return r.make(targets)
}

// versionFile holds the constant of the version.
const versionFile = "internal/run/cli/version.go"

func versionLine() *regexp.Regexp { return regexp.MustCompile(`(?m)^const version = "([0-9.]+)"$`) }

func programVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, versionFile))
	if err != nil {
		return "", err
	}
	found := versionLine().FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s has no version", versionFile)
	}
	return string(found[1]), nil
}

// sourceDate returns SOURCE_DATE_EPOCH, or the time of the last commit.
func sourceDate(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		cmd := exec.Command("git", "log", "-1", "--format=%ct")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("no SOURCE_DATE_EPOCH, and git does not know the last commit: %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// make writes all files. It recreates the folder, so that no file of an earlier release is in the checksums.
func (r *release) make(targets []target) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	work := filepath.Join(r.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	programs := map[target]string{}
	for _, t := range targets {
		path, err := r.build(t, work)
		if err != nil {
			return err
		}
		programs[t] = path
	}
	if err := r.papers(programs, work); err != nil {
		return err
	}
	images := map[string]string{}
	for _, t := range targets {
		if err := r.forTarget(t, programs[t]); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if t.os == "linux" && slices.Contains(r.kinds, "image") {
			images[t.arch] = programs[t]
		}
	}
	if err := r.images(images, work); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if slices.Contains(r.kinds, "notes") {
		if err := r.writeNotes(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return r.checksums()
}

// forTarget writes the archive and the packages of one target.
func (r *release) forTarget(t target, program string) error {
	if slices.Contains(r.kinds, "archive") {
		if err := r.archive(t, program); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	for _, format := range []string{"deb", "rpm"} {
		if t.os != "linux" || !slices.Contains(r.kinds, format) {
			continue
		}
		if err := r.pack(format, t, program); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}
