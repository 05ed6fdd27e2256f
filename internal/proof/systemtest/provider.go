package systemtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wayside/internal/proof/testenv"
)

// Provider is a wayside relay process that serves a file of rows and keeps its address over restarts.
type Provider struct {
	t       *testing.T
	name    string
	file    string // its rows
	secret  string
	Address string // empty before it was started
	cmd     *exec.Cmd
	Log     *testenv.Output // of all its processes
}

// StartProvider starts a provider of the rows, which ends with the test.
func StartProvider(t *testing.T, name string, rows ...string) *Provider {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the real binary")
	}
	p := &Provider{t: t, name: name, file: filepath.Join(t.TempDir(), name+".json"), secret: "secret-of-" + name, Log: new(testenv.Output)}
	p.Say(rows...)
	p.Start()
	return p
}

// Say replaces the rows of the file.
func (p *Provider) Say(rows ...string) {
	p.t.Helper()
	WriteRows(p.t, p.file, "["+strings.Join(rows, ",")+"]")
}

// Start starts the provider, at a free port the first time and at the same port later, and waits until it answers.
func (p *Provider) Start() {
	p.t.Helper()
	bin := testenv.Program(p.t)
	config := p.file + ".toml"
	if err := os.WriteFile(config, []byte("[log]\nlevel = \"debug\"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	listen := p.Address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	cmd := exec.Command(bin, "relay", "--listen", listen, "--config", config, p.file)
	cmd.Env = append(os.Environ(), "WAYSIDE_RELAY_SECRET="+p.secret)
	cmd.Stderr = p.Log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd = cmd
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.t.Fatalf("it ends: %v\n%s", err, p.Log)
	}
	_, after, _ := strings.Cut(line, "relay at http://")
	p.Address, _, _ = strings.Cut(after, ": ")
}

// Stop sends a signal and waits until the process has ended.
func (p *Provider) Stop(signal os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); signal == syscall.SIGTERM && err != nil {
		p.t.Errorf("the relay ended with %v\n%s", err, p.Log)
	}
}

// AsUpstream returns the configuration of the provider as an upstream.
func (p *Provider) AsUpstream(form string) string {
	return UpstreamTable(p.name, "http://"+p.Address, p.secret, form)
}

// UpstreamTable returns the configuration of an upstream.
func UpstreamTable(name, url, secret, form string) string {
	return fmt.Sprintf("\n[[upstreams]]\nname = %q\nurl = %q\nsecret = %q\nform = %q\nattribution = %q\n", name, url, secret, form, "© "+name)
}

// WriteRows replaces a file of rows atomically.
func WriteRows(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(name+".new", []byte(text), 0o600), os.Rename(name+".new", name)); err != nil {
		t.Fatal(err)
	}
}
