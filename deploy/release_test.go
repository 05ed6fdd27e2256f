package deploy

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestReleaseTwice makes all files of a release twice, with a stand-in for the program, and checks that the files are the same,
// that the checksums match, and that the image is a valid OCI layout.
func TestReleaseTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program that makes releases")
	}
	stub := filepath.Join(t.TempDir(), "wayside")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho \"$@\"\nif [ \"$2\" = --sbom ]; then echo '\"timestamp\": \"'$(date +%N)'\"'; fi\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	tool := releaser(t)
	version := lastCut(t)
	first, second := makeRelease(t, tool, stub, "-version", version), makeRelease(t, tool, stub, "-version", version)
	sums := read(t, filepath.Join(first, "SHA256SUMS"))
	if sums != read(t, filepath.Join(second, "SHA256SUMS")) {
		t.Errorf("not the same twice:\n%s\n%s", sums, read(t, filepath.Join(second, "SHA256SUMS")))
	}
	arch := runtime.GOARCH
	for _, name := range []string{"wayside_" + version + "_linux_" + arch + ".tar.gz", "wayside_" + version + "-1_" + arch + ".deb", "wayside_" + version + "_image.oci.tar", "wayside_" + version + ".cdx.json", "THIRD-PARTY-LICENCES.txt", "NOTES.md"} {
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(read(t, filepath.Join(first, name)))), name); !strings.Contains(sums, want) {
			t.Errorf("SHA256SUMS has no %q:\n%s", want, sums)
		}
	}
	onlyFile(t, first, "wayside-"+version+"-1.*.rpm")
	wants(t, read(t, filepath.Join(first, "NOTES.md")), "# Wayside "+version+"\n")
	image := filepath.Join(first, "wayside_"+version+"_image.oci.tar")
	checkImage(t, image, arch)
	// skopeo is an independent reader of the layout.
	if _, err := exec.LookPath("skopeo"); err != nil {
		t.Log("SKIPPED: the image is not read by skopeo: it is not installed")
		return
	}
	out, err := exec.CommandContext(t.Context(), "skopeo", "inspect", "oci-archive:"+image).CombinedOutput()
	if err != nil {
		t.Fatalf("skopeo: %v\n%s", err, out)
	}
	wants(t, string(out), `"org.opencontainers.image.version": "`+version+`"`, `"Architecture": "`+arch+`"`, "WAYSIDE_DATA_DIR=/var/lib/wayside")
}

// TestCut cuts a release of a small tree, and checks that the changelog gets a section whose links start at the root, and that the
// version is set in all files that name it.
func TestCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program that makes releases")
	}
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("CHANGELOG.md", "# Changes\n\n## 0.2.0 (2026-11-22)\n\n### Added\n\n- Old.\n")
	write("changelog/unreleased/0015-b.md", "Routes, see [operating](../../docs/operating.md).\n")
	write("changelog/unreleased/0015-a.fixed.md", "A fault\nthat was.\n")
	write("internal/run/cli/version.go", "package cli\n\nconst version = \"0.2.0\"\n")
	write("README.md", "podman run wayside:0.2.0 setup\n")
	write("api.txt", "route GET /v2/new\n")
	write("api-released.txt", "route GET /v2/old\n")
	write("internal/http/httpapi/openapi.json", `"example": {"version": "0.2.0"}`)
	if out, err := exec.CommandContext(t.Context(), releaser(t), "cut", "-root", root, "-date", "2026-12-24", "0.3.0").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "# Changes\n\n## 0.3.0 (2026-12-24)\n\n### Added\n\n- Routes, see [operating](docs/operating.md).\n\n### Fixed\n\n- A fault that was.\n\n## 0.2.0 (2026-11-22)\n\n### Added\n\n- Old.\n"
	if got := read(t, filepath.Join(root, "CHANGELOG.md")); got != want {
		t.Errorf("the changelog:\n%s", got)
	}
	wants(t, read(t, filepath.Join(root, "internal/run/cli/version.go")), `"0.3.0"`)
	wants(t, read(t, filepath.Join(root, "README.md")), "wayside:0.3.0 setup")
	if got := read(t, filepath.Join(root, "api-released.txt")); got != "route GET /v2/new\n" {
		t.Errorf("the public names that were released: %q", got)
	}
	wants(t, read(t, filepath.Join(root, "internal/http/httpapi/openapi.json")), `"version": "0.3.0"`)
	if left, err := filepath.Glob(filepath.Join(root, "changelog/unreleased/*.md")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// lastCut returns the version that CHANGELOG.md begins with: it has notes whether or not it has been followed by further changes.
func lastCut(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) `).FindStringSubmatch(read(t, "../CHANGELOG.md"))
	if found == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	return found[1]
}

// descriptor is the reference of an OCI layout to a blob.
type descriptor struct {
	MediaType string
	Digest    string
	Size      int
	Platform  struct{ OS, Architecture string }
}

// checkImage walks from the layout's index to the image's user and its files.
func checkImage(t *testing.T, path, arch string) {
	t.Helper()
	files := untar(t, []byte(read(t, path)))
	blob := func(d descriptor, into any) {
		t.Helper()
		text := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
		if len(text) != d.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(text)) != d.Digest {
			t.Fatalf("%s: %d bytes that are something else", d.Digest, len(text))
		}
		if into == nil {
			return
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	type list struct{ Manifests []descriptor }
	var layout, index list
	if err := json.Unmarshal(files["index.json"], &layout); err != nil || len(layout.Manifests) != 1 || !strings.Contains(string(files["oci-layout"]), `"1.0.0"`) {
		t.Fatalf("index.json: %s, %v", files["index.json"], err)
	}
	blob(layout.Manifests[0], &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Platform.OS != "linux" || index.Manifests[0].Platform.Architecture != arch {
		t.Fatalf("images: %+v", index.Manifests)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	blob(index.Manifests[0], &manifest)
	var image struct {
		Architecture string
		Config       struct {
			User            string
			Entrypoint, Cmd []string
			Env             []string
		}
	}
	blob(manifest.Config, &image)
	if image.Architecture != arch || image.Config.User != "65532:65532" {
		t.Errorf("config: %+v", image)
	}
	for _, part := range []string{fmt.Sprintf("ENTRYPOINT [%q]", image.Config.Entrypoint[0]), `CMD ["` + strings.Join(image.Config.Cmd, `", "`) + `"]`} {
		wants(t, read(t, "Dockerfile"), part) // both images start alike
	}
	for _, variable := range image.Config.Env[1:] { // after PATH
		wants(t, read(t, "Dockerfile"), variable)
	}
	for _, l := range manifest.Layers {
		blob(l, nil)
	}
	if len(manifest.Layers) != 2 {
		t.Errorf("layers: %+v", manifest.Layers)
	}
}

func untar(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(text))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
