package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// build builds the program: static, without paths of this machine and without a build id.
func (r *release) build(t target, work string) (string, error) {
	path := r.program
	if path != "" {
		return filepath.Abs(path)
	}
	path = filepath.Join(work, t.os+"-"+t.arch, t.program())
	fmt.Println("building for", t)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-o", path, "./cmd/wayside")
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build for %s: %w", t, err)
	}
	return path, nil
}

// papers writes the bill of materials and the licence texts, as the program prints them.
func (r *release) papers(programs map[target]string, work string) error {
	own := programs[target{runtime.GOOS, runtime.GOARCH}]
	if own == "" {
		return fmt.Errorf("the targets need this machine's, %s/%s, which prints the licences", runtime.GOOS, runtime.GOARCH)
	}
	r.sbom, r.texts = filepath.Join(r.out, fmt.Sprintf("wayside_%s.cdx.json", r.version)), filepath.Join(r.out, "THIRD-PARTY-LICENCES.txt")
	for path, args := range map[string][]string{r.sbom: {"licences", "--sbom"}, r.texts: {"licences"}} {
		text, err := exec.Command(own, args...).Output()
		if err != nil {
			return fmt.Errorf("wayside %s: %w", strings.Join(args, " "), err)
		}
		// The bill of materials contains the time at which the program wrote it, which would differ from build to build.
		text = regexp.MustCompile(`"timestamp": "[^"]*"`).ReplaceAll(text, []byte(`"timestamp": "`+r.date.Format(time.RFC3339)+`"`))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, err := exec.Command(own, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("wayside completion %s: %w", shell, err)
		}
		if err := os.WriteFile(filepath.Join(work, "completion."+shell), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// entry is a file of an archive.
type entry struct {
	name, source string
	mode         int64
}

// archive writes a .tar.gz, for Windows a .zip, with the program, its licences, and the configuration for systemd.
func (r *release) archive(t target, program string) (err error) {
	folder := fmt.Sprintf("wayside_%s_%s_%s", r.version, t.os, t.arch)
	entries := []entry{
		{t.program(), program, 0o755},
		{"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644},
		{"THIRD-PARTY-LICENCES.txt", r.texts, 0o644},
		{"README.md", filepath.Join(r.root, "README.md"), 0o644},
	}
	if t.os == "linux" {
		entries = append(entries, entry{"wayside.service", filepath.Join(r.root, "deploy/wayside.service"), 0o644},
			entry{"wayside.toml", filepath.Join(r.root, "deploy/wayside.toml"), 0o644})
	}
	extension := ".tar.gz"
	if t.os == "windows" {
		extension = ".zip"
	}
	file, err := os.Create(filepath.Join(r.out, folder+extension))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if t.os == "windows" {
		return r.zip(file, folder, entries)
	}
	compressed := gzip.NewWriter(file)
	return errors.Join(r.tar(compressed, folder, entries), compressed.Close())
}

func (r *release) tar(w io.Writer, folder string, entries []entry) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		text, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: folder + "/" + e.name, Mode: e.mode, Size: int64(len(text)), ModTime: r.date, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (r *release) zip(w io.Writer, folder string, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		text, err := os.ReadFile(e.source)
		if err != nil {
			return err
		}
		part, err := archive.CreateHeader(&zip.FileHeader{Name: folder + "/" + e.name, Method: zip.Deflate, Modified: r.date})
		if err != nil {
			return err
		}
		if _, err := part.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

// checksums writes SHA256SUMS of every file, for sha256sum --check.
func (r *release) checksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), f.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
