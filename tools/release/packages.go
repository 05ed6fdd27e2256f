package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// maintainer has an address that reaches nobody (RFC 2606), because packages must name one and the project has no domain;
// wayside@localhost would be the service's own user on the machine. SECURITY.md and CONTRIBUTING.md explain how to reach the
// authors.
const maintainer = "The Wayside authors <nobody@wayside.invalid>"

// pack writes a package of one format. Its scripts and its configuration are in deploy/package; its unit is deploy/wayside.service
// with the place where packages put programs.
func (r *release) pack(format string, t target, program string) (err error) {
	work := filepath.Join(r.out, "work")
	unit, err := os.ReadFile(filepath.Join(r.root, "deploy/wayside.service"))
	if err != nil {
		return err
	}
	// The head of the unit is about installing it by hand.
	_, body, found := strings.Cut(string(unit), "\n[Unit]\n")
	if !found {
		return errors.New("wayside.service does not begin with [Unit]")
	}
	unitFile := filepath.Join(work, "wayside.service")
	if err := os.WriteFile(unitFile, []byte("[Unit]\n"+strings.ReplaceAll(body, "/usr/local/bin/", "/usr/bin/")), 0o644); err != nil {
		return err
	}
	source := func(name string) string { return filepath.Join(r.root, "deploy/package", name) }
	file := func(source, destination string, mode os.FileMode) *files.Content {
		return &files.Content{Source: source, Destination: destination, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.date}}
	}
	configuration := file(source("wayside.toml"), "/etc/wayside/wayside.toml", 0o640)
	configuration.Type = files.TypeConfigNoReplace
	licence, notices := "/usr/share/doc/wayside/copyright", "/usr/share/doc/wayside/THIRD-PARTY-LICENCES.txt"
	if format == "rpm" {
		licence, notices = "/usr/share/licenses/wayside/LICENSE", "/usr/share/licenses/wayside/THIRD-PARTY-LICENCES.txt"
	}
	zsh := "/usr/share/zsh/vendor-completions/_wayside"
	if format == "rpm" {
		zsh = "/usr/share/zsh/site-functions/_wayside"
	}
	depends := map[string][]string{"deb": {"passwd"}, "rpm": {"shadow-utils"}}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "wayside", Arch: t.arch, Platform: "linux", Version: r.version, Release: "1", MTime: r.date,
		Section: "net", Priority: "optional", License: "Apache-2.0", Maintainer: maintainer,
		Description: "Map data service for drivers\nProviders publish what they know about the road; anyone asks what is nearby.",
		Overridables: nfpm.Overridables{
			Depends:    depends[format],
			Recommends: []string{"ca-certificates"},
			Contents: files.Contents{
				file(program, "/usr/bin/wayside", 0o755),
				file(unitFile, "/usr/lib/systemd/system/wayside.service", 0o644),
				configuration,
				file(filepath.Join(r.root, "LICENSE"), licence, 0o644),
				file(r.texts, notices, 0o644),
				file(filepath.Join(work, "completion.bash"), "/usr/share/bash-completion/completions/wayside", 0o644),
				file(filepath.Join(work, "completion.zsh"), zsh, 0o644),
				file(filepath.Join(work, "completion.fish"), "/usr/share/fish/vendor_completions.d/wayside.fish", 0o644),
			},
			Scripts: nfpm.Scripts{
				PostInstall: source("postinst." + format), PreRemove: source("prerm." + format), PostRemove: source("postrm." + format),
			},
			RPM: nfpm.RPM{BuildHost: "localhost", Summary: "Map data service for drivers"},
		},
	})
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := packager.Package(info, out); err != nil {
		return fmt.Errorf("write the package: %w", err)
	}
	return nil
}
