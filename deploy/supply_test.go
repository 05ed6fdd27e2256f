package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script copies a script of the repository into a new folder, with a fake tool beside it, and returns the folder and a function
// that runs the script.
func script(t *testing.T, name, tool, toolText string, files map[string]string) (dir string, runScript func() (string, error)) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(filepath.Dir(name)), filepath.Base(name))
	bin := filepath.Join(dir, "bin")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil { //nolint:gosec // scripts
			t.Fatal(err)
		}
	}
	write(path, string(text))
	write(filepath.Join(bin, tool), "#!/bin/sh\n"+toolText)
	for name, text := range files {
		write(filepath.Join(filepath.Dir(path), name), text)
	}
	return filepath.Dir(path), func() (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", path)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// TestVulnerabilityCheck checks that the script fails if it could not look for vulnerabilities, unless a dated exception allows
// that (F22).
func TestVulnerabilityCheck(t *testing.T) {
	const unreachable = "echo 'govulncheck: fetching vulnerabilities: dial tcp: no such host'; exit 1"
	day := func(d time.Duration) string { return time.Now().UTC().Add(d).Format(time.DateOnly) }
	for _, tt := range []struct {
		name, tool, exception string
		passes                bool
	}{
		{"nothing found", "echo No vulnerabilities found.", "", true},
		{"something found", "echo GO-2026-1; exit 3", day(24*time.Hour) + " reason", false},
		{"could not look", unreachable, "", false},
		{"could not look, accepted", unreachable, day(24*time.Hour) + " reason\n", true},
		{"could not look, accepted until yesterday", unreachable, day(-24*time.Hour) + " reason\n", false},
		{"could not look, accepted for no reason", unreachable, day(24*time.Hour) + "\n", false},
		{"could not look, accepted for ever", unreachable, "always reason\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.exception != "" {
				files["vulnerabilities.exception"] = tt.exception
			}
			_, check := script(t, "../.ci/vulnerabilities", "govulncheck", tt.tool, files)
			if out, err := check(); (err == nil) != tt.passes {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestPinImages checks that the script pins every image of other projects by digest, once.
func TestPinImages(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	names := []string{"Dockerfile", "compose.yaml", "single/compose.yaml"}
	files := make(map[string]string)
	for _, name := range names {
		files[name] = read(t, name)
	}
	dir, pin := script(t, "pin-images", "docker", "echo "+digest, files)
	for range 2 {
		if out, err := pin(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			field := strings.TrimSpace(line)
			if !strings.HasPrefix(field, "FROM ") && !strings.HasPrefix(field, "image: ") || strings.Contains(field, "wayside:") {
				continue
			}
			if got := strings.Count(field, "@"+digest); got != 1 {
				t.Errorf("%s: %s has %d digests", name, field, got)
			}
		}
	}
}
