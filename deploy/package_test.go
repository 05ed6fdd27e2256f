package deploy

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"wayside/internal/proof/testenv"
)

// releaser builds the program that makes the files of a release, where it stays: it is linked again only when it has changed.
func releaser(t *testing.T) string {
	t.Helper()
	tool, err := filepath.Abs("../bin/wayside-release-test")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-C", "../tools/release", "-trimpath", "-o", tool, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the program of the tests: the standard library is compiled already
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build tools/release: %v\n%s", err, out)
	}
	return tool
}

// makeRelease makes files for this machine's architecture in a new folder.
func makeRelease(t *testing.T, tool, program string, args ...string) string {
	t.Helper()
	out := t.TempDir()
	args = append([]string{"-root", "..", "-for", "linux/" + runtime.GOARCH, "-program", program, "-out", out}, args...)
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1763701200")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release %v: %v\n%s", args, err, text)
	}
	return out
}

// onlyFile returns the only file that matches.
func onlyFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	return files[0]
}

// chamber is a view of this machine's file system in which all changes go to a folder of the test.
type chamber struct {
	t    *testing.T
	root string
	pid  string
}

// newChamber mounts an overlay in a new mount namespace. It needs root, and a system that allows mounts.
func newChamber(t *testing.T) *chamber {
	t.Helper()
	for _, tool := range []string{"dpkg", "unshare", "nsenter", "chroot", "setpriv", "runuser", "useradd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: the package is not installed for a test: there is no %s", tool)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: the package is not installed for a test: that takes root")
	}
	dir := t.TempDir()
	c := &chamber{t: t, root: filepath.Join(dir, "root")}
	// The layers are on a memory file system, because an overlay cannot be the upper layer of another one.
	script := `mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/root" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" &&
		mount --bind /proc "$1/root/proc" && mount --bind /dev "$1/root/dev" && echo mounted && exec sleep 600`
	p := run(t, nil, "unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", dir)
	c.pid = fmt.Sprint(p.cmd.Process.Pid)
	ended := func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	}
	eventually(t, "an overlay is mounted", func() bool { return strings.Contains(p.out.String(), "mounted") || ended() })
	if ended() {
		t.Skipf("SKIPPED: the package is not installed for a test: this system does not let it mount an overlay: %s", p.out.String())
	}
	return c
}

// command returns the command that runs a shell script inside.
func (c *chamber) command(script string) (string, []string) {
	return "nsenter", []string{"--mount=/proc/" + c.pid + "/ns/mnt", "chroot", c.root, "sh", "-ec", script}
}

// do runs a script as root, which must succeed, and returns what it prints.
func (c *chamber) do(script string) string {
	c.t.Helper()
	name, args := c.command(script)
	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// install copies a package to the root inside and installs it.
func (c *chamber) install(deb string) string {
	c.t.Helper()
	c.copyIn(deb, "new.deb")
	return c.do("dpkg --force-unsafe-io --install /new.deb < /dev/null")
}

// copyIn copies a file to the root inside.
func (c *chamber) copyIn(path, name string) {
	c.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), "nsenter", "--mount=/proc/"+c.pid+"/ns/mnt", "sh", "-c", `cat > "$1"`, "sh", filepath.Join(c.root, name))
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
}

// serve runs the command of the unit, as its user, until the returned function stops it.
func (c *chamber) serve(address string) (stop func()) {
	c.t.Helper()
	start := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(c.do("cat /usr/lib/systemd/system/wayside.service"))
	if start == nil || strings.HasPrefix(start[1], "/usr/local/") {
		c.t.Fatalf("the unit starts %v", start)
	}
	name, args := c.command("cd / && exec setpriv --reuid=wayside --regid=wayside --init-groups -- " + start[1])
	p := run(c.t, nil, name, args...)
	eventually(c.t, "the service is ready", func() bool {
		select {
		case <-p.done:
			c.t.Fatalf("the service ended: %s", p.out.String())
		default:
		}
		resp, err := http.Get("http://" + address + "/readyz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return func() {
		// Every command before it has been replaced by exec, so that this process is the service.
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			c.t.Error(err)
		}
		<-p.done
	}
}

// TestRPMPackage installs the package with its scripts, sets it up, runs it, upgrades it, and removes it. Its dependencies have
// other names on Debian, so that rpm must not check them.
func TestRPMPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds packages")
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("SKIPPED: the .rpm is not installed for a test: there is no rpm")
	}
	c := newChamber(t)
	tool, program := releaser(t), testenv.Program(t)
	const database = "--dbpath /var/lib/rpm-of-test "
	const rpm = "rpm --force-debian --nodeps " + database
	install := func(version string) string {
		t.Helper()
		c.copyIn(onlyFile(t, makeRelease(t, tool, program, "-kinds", "rpm", "-version", version), "*.rpm"), "new.rpm")
		return c.do("rpm --checksig /new.rpm && " + rpm + "--upgrade /new.rpm")
	}
	address := "127.0.0.1:" + freePort(t)
	wants(t, install("0.0.1"), "digests OK", "not set up yet", "sudo systemctl enable --now wayside")
	if got := c.do("stat -c '%U:%G %a' /etc/wayside/wayside.toml /var/lib/wayside"); got != "root:wayside 640\nwayside:wayside 700\n" {
		t.Errorf("installed: %s", got)
	}
	wants(t, c.do("wayside setup --yes --config /etc/wayside/wayside.toml --base-url http://"+address+" --curator me@example.org"), "sudo systemctl enable --now wayside")
	const list = "runuser -u wayside -- wayside account list --config /etc/wayside/wayside.toml"
	stop := c.serve(address)
	wants(t, c.do(list), "me@example.org")
	stop()
	if out := install("9.0.0"); strings.Contains(out, "not set up") {
		t.Errorf("the upgrade says:\n%s", out)
	}
	wants(t, c.do("rpm "+database+"--query wayside; cat /etc/wayside/wayside.toml"), "wayside-9.0.0-1", `base_url = "http://`+address)
	stop = c.serve(address)
	wants(t, c.do(list), "me@example.org")
	stop()
	c.do(rpm + "--erase wayside && test ! -e /usr/bin/wayside && test -e /var/lib/wayside/wayside.db && test -e /etc/wayside/wayside.toml.rpmsave && id wayside")
}

// wants checks that a text contains all parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in:\n%s", part, text)
		}
	}
}

// TestDebianPackage installs the package, sets it up, runs it, upgrades it, and purges it.
func TestDebianPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds packages")
	}
	c := newChamber(t)
	tool, program := releaser(t), testenv.Program(t)
	before := onlyFile(t, makeRelease(t, tool, program, "-kinds", "deb", "-version", "0.0.1"), "*.deb")
	fresh := onlyFile(t, makeRelease(t, tool, program, "-kinds", "deb", "-version", "9.0.0"), "*.deb")
	address := "127.0.0.1:" + freePort(t)

	out := c.install(before)
	wants(t, out, "not set up yet", "sudo wayside setup --config /etc/wayside/wayside.toml", "sudo systemctl enable --now wayside")
	if got := c.do("stat -c '%U:%G %a' /etc/wayside/wayside.toml /var/lib/wayside; dpkg-query --show --showformat '${Version} ${Conffiles}' wayside"); !strings.HasPrefix(got,
		"root:wayside 640\nwayside:wayside 700\n0.0.1-1 ") || !strings.Contains(got, " /etc/wayside/wayside.toml ") {
		t.Errorf("installed: %s", got)
	}
	if _, err := exec.LookPath("systemd-analyze"); err == nil {
		if out := c.do("systemd-analyze verify --man=no /usr/lib/systemd/system/wayside.service 2>&1"); strings.Contains(out, "wayside.service") {
			t.Errorf("the unit: %s", out)
		}
	} else {
		t.Log("SKIPPED: the unit is not verified: systemd-analyze is not installed")
	}

	out = c.do("cd /tmp && wayside setup --yes --config /etc/wayside/wayside.toml --base-url http://" + address + " --curator me@example.org")
	wants(t, out, "sudo systemctl enable --now wayside", "/var/lib/wayside", "http://"+address+"/auth/verify?token=")
	if got := c.do("find /var/lib/wayside ! -user wayside; stat -c '%U:%G %a' /etc/wayside/wayside.toml"); got != "root:wayside 640\n" {
		t.Errorf("after setup: %s", got)
	}
	stop := c.serve(address)
	const list = "runuser -u wayside -- wayside account list --config /etc/wayside/wayside.toml"
	wants(t, c.do(list), "me@example.org")
	stop()

	out = c.install(fresh)
	if strings.Contains(out, "not set up") {
		t.Errorf("the upgrade says:\n%s", out)
	}
	wants(t, c.do("dpkg-query --show wayside; cat /etc/wayside/wayside.toml"), "9.0.0-1", `base_url = "http://`+address)
	stop = c.serve(address)
	wants(t, c.do(list), "me@example.org")
	stop()

	c.do("dpkg --force-unsafe-io --remove wayside && test ! -e /usr/bin/wayside && test -e /etc/wayside/wayside.toml")
	wants(t, c.do("dpkg --purge wayside && test ! -e /etc/wayside && test -e /var/lib/wayside/wayside.db && id wayside"), "The data stay in /var/lib/wayside")
	c.do("rm -r /var/lib/wayside && userdel wayside")

	c.install(fresh)
	c.do("dpkg --purge wayside && test ! -e /etc/wayside && test ! -e /var/lib/wayside && ! id wayside 2> /dev/null")
}
