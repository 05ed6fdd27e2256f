package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nonroot is the user of the image, the same as in deploy/Dockerfile.
const nonroot = 65532

// images writes one OCI layout for all architectures, as a tar file that podman, skopeo and ctr read. No daemon takes part.
func (r *release) images(programs map[string]string, work string) error {
	if len(programs) == 0 {
		return nil
	}
	base, err := r.baseLayer()
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range slices.Sorted(maps.Keys(programs)) {
		image, err := r.image(arch, programs[arch], base)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	folder := filepath.Join(work, "image")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/wayside:" + r.version})
	if err := path.AppendIndex(index, name); err != nil {
		return err
	}
	return r.tarFolder(filepath.Join(r.out, fmt.Sprintf("wayside_%s_image.oci.tar", r.version)), folder)
}

// image makes the image of one architecture.
func (r *release) image(arch, program string, base v1.Layer) (v1.Image, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	notices, err := os.ReadFile(r.texts)
	if err != nil {
		return nil, err
	}
	own, err := r.layer([]inLayer{
		{name: "usr/local/bin/wayside", text: text, mode: 0o755},
		{name: "usr/share/licenses/wayside/LICENSE", text: licence, mode: 0o644},
		{name: "usr/share/licenses/wayside/THIRD-PARTY-LICENCES.txt", text: notices, mode: 0o644},
	})
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.date}
	image, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		mutate.Addendum{Layer: base, History: v1.History{Created: created, CreatedBy: "certificates, user and data folder"}},
		mutate.Addendum{Layer: own, History: v1.History{Created: created, CreatedBy: "wayside " + r.version}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, created
	user := fmt.Sprintf("%d:%d", nonroot, nonroot)
	file.Config = v1.Config{
		User: user, WorkingDir: "/var/lib/wayside", ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Volumes:    map[string]struct{}{"/var/lib/wayside": {}},
		Entrypoint: []string{"/usr/local/bin/wayside"}, Cmd: []string{"serve"},
		// For all commands, such as setup before the service starts and account beside it.
		Env: []string{"PATH=/usr/local/bin", "WAYSIDE_DATA_DIR=/var/lib/wayside", "WAYSIDE_HTTP_LISTEN=0.0.0.0:8080"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "wayside", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.description": "Map data service for drivers",
		},
	}
	return mutate.ConfigFile(image, file)
}

// baseLayer makes the layer of the files that the program needs around it: certificate authorities for polls and e-mail, a user,
// and a folder for data. The program uses no time zones, so that it needs no data of them.
func (r *release) baseLayer() (v1.Layer, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // a PEM file cannot express the constraint
		}
		if _, err := x509.ParseCertificate(root.Certificate); err != nil {
			return nil, err
		}
		if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return r.layer([]inLayer{
		{name: "etc/passwd", text: fmt.Appendf(nil, "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/var/lib/wayside:/sbin/nologin\n", nonroot, nonroot), mode: 0o644},
		{name: "etc/group", text: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", nonroot), mode: 0o644},
		{name: "etc/ssl/certs/ca-certificates.crt", text: roots.Bytes(), mode: 0o644},
		{name: "tmp/", mode: 0o1777},
		{name: "var/lib/wayside/", mode: 0o700, owner: nonroot},
	})
}

// inLayer is a file of a layer; a name that ends in a slash is a folder.
type inLayer struct {
	name  string
	text  []byte
	mode  int64
	owner int
}

func (r *release) layer(entries []inLayer) (v1.Layer, error) {
	var text bytes.Buffer
	archive := tar.NewWriter(&text)
	made := map[string]bool{}
	header := func(e inLayer) *tar.Header {
		return &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), Uid: e.owner, Gid: e.owner, ModTime: r.date, Format: tar.FormatPAX}
	}
	for _, e := range entries {
		for i, c := range e.name[:len(e.name)-1] { // its parents
			if parent := e.name[:i+1]; c == '/' && !made[parent] {
				made[parent] = true
				if err := archive.WriteHeader(header(inLayer{name: parent, mode: 0o755})); err != nil {
					return nil, err
				}
			}
		}
		if err := archive.WriteHeader(header(e)); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}

// tarFolder writes a folder's files in the order of their names.
func (r *release) tarFolder(path, folder string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := tar.NewWriter(file)
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		header := &tar.Header{Name: name, Mode: 0o644, ModTime: r.date.Truncate(time.Second), Format: tar.FormatPAX}
		if d.IsDir() {
			header.Name, header.Mode = name+"/", 0o755
			return archive.WriteHeader(header)
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		header.Size = int64(len(text))
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(text)
		return err
	})
	return errors.Join(err, archive.Close())
}
