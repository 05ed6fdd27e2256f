package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// verdict is the result of a change.
type verdict int

// The verdicts.
const (
	untried  verdict = iota // the run was interrupted
	noticed                 // a test failed, or took too long
	survived                // all tests passed
	broken                  // it does not compile
)

// listFiles returns the Go files of a package, tests aside, by their full paths.
func listFiles(ctx context.Context, pkg string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", `{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}`, pkg).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w: %s", pkg, err, bytes.TrimSpace(out))
	}
	return strings.Fields(string(out)), nil
}

// tester runs tests against changes.
type tester struct {
	*options
	dir string // for overlays
}

// baseline requires that all tests pass without a change, and measures how long they may take with one.
func (t *tester) baseline(ctx context.Context) error {
	began := time.Now()
	for _, pkg := range t.packages() {
		if out, err := t.test(ctx, pkg, ""); err != nil {
			return fmt.Errorf("without a change, the tests of %s fail: %w\n%s", pkg, err, out)
		}
	}
	if t.timeout == 0 {
		t.timeout = 3*time.Since(began) + 20*time.Second
	}
	return nil
}

func (t *tester) packages() []string { return append([]string{t.pkg}, t.tests...) }

// all tries the changes, some at the same time, and prints each that survives.
func (t *tester) all(ctx context.Context, all []mutation) []verdict {
	verdicts := make([]verdict, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range t.parallel {
		group.Go(func() {
			for i := range next {
				v, err := t.try(ctx, &all[i], i)
				if err != nil {
					fmt.Fprintln(os.Stderr, "mutate:", err)
				}
				if verdicts[i] = v; v == survived {
					fmt.Println(all[i])
				}
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return verdicts
}

// try runs the tests against one change, the package's own first.
func (t *tester) try(ctx context.Context, m *mutation, number int) (verdict, error) {
	overlay, err := t.overlay(m, number)
	if err != nil {
		return untried, err
	}
	for _, pkg := range t.packages() {
		out, err := t.test(ctx, pkg, overlay)
		switch {
		case ctx.Err() != nil:
			return untried, nil //nolint:nilerr // the run was interrupted
		case err == nil:
		case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
			return broken, nil
		default:
			return noticed, nil
		}
	}
	return survived, nil
}

// overlay writes the changed file and the list that makes the compiler read it in place of the original.
func (t *tester) overlay(m *mutation, number int) (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(t.dir, fmt.Sprintf("%d.go", number))
	if err := os.WriteFile(changed, m.apply(text), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(t.dir, fmt.Sprintf("%d.json", number))
	return path, os.WriteFile(path, list, 0o600)
}

// test runs the tests of a package, quick ones only, with an overlay or without.
func (t *tester) test(ctx context.Context, pkg, overlay string) ([]byte, error) {
	args := []string{"test", "-short", "-failfast", "-count=1", "-vet=off"}
	if t.timeout > 0 {
		args = append(args, "-timeout", t.timeout.String())
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	return exec.CommandContext(ctx, "go", append(args, pkg)...).CombinedOutput()
}
