package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the current or next release.
const version = "0.2.0"

// versionCmd is wayside version.
type versionCmd struct{}

// Run prints the version, and the commit if the build recorded it.
func (versionCmd) Run(p *program) error {
	p.printf("%s\n", versionText())
	return nil
}

// versionText describes the release, the tool chain, the platform and the commit.
func versionText() string {
	return fmt.Sprintf("wayside %s (%s, %s/%s%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision())
}

// revision returns the commit of the build; empty if unknown.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = ", " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + changed
}
