package systemtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// Unlimited raises the limits that tests would exceed.
const Unlimited = `
[limits]
guest_reads_per_minute = 1000000
account_reads_per_minute = 1000000
guest_routes_per_minute = 1000000
account_routes_per_minute = 1000000
pushes_per_minute = 1000000
push_entities_per_minute = 0
manage_per_minute = 1000000
feeds_per_account = 1000
entities_per_feed = 0
bytes_per_feed = "0"
bytes_per_account = "0"
unreviewed_entities_per_feed = 0
unreviewed_bytes_per_feed = "0"
`

// Service is a running wayside serve.
type Service struct {
	T     *testing.T
	Bin   string
	File  string // its configuration
	Dir   string // its data
	Base  string
	Cmd   *exec.Cmd
	Log   *testenv.Output
	ended chan error
}

// NewService prepares a service on a fresh data directory.
func NewService(t *testing.T, config string) *Service {
	t.Helper()
	bin, dir := testenv.Program(t), t.TempDir()
	s := &Service{T: t, Bin: bin, Dir: filepath.Join(dir, "data"), File: filepath.Join(dir, "wayside.toml")}
	text := fmt.Sprintf("data_dir = %q\n%s\n[http]\nlisten = \"127.0.0.1:0\"\n", s.Dir, config)
	if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// StartService starts a service and waits until it is ready.
func StartService(t *testing.T, config string) *Service {
	t.Helper()
	s := NewService(t, config)
	s.Start(nil)
	return s
}

// Start starts wayside serve, with the wrapper if there is one, and waits until it is ready. It keeps its port over restarts.
func (s *Service) Start(wrapper []string) {
	s.T.Helper()
	args := append(append([]string{}, wrapper...), s.Bin, "serve", "--config", s.File)
	if s.Base != "" {
		args = append(args, "--listen", strings.TrimPrefix(s.Base, "http://"))
	}
	s.Cmd = exec.Command(args[0], args[1:]...)
	stderr, err := s.Cmd.StderrPipe()
	if err != nil {
		s.T.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		s.T.Fatal(err)
	}
	s.Log, s.ended = new(testenv.Output), make(chan error, 1)
	ready := make(chan string, 1)
	go func(cmd *exec.Cmd, log *testenv.Output, ended chan<- error) {
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			_, _ = log.Write(append(lines.Bytes(), '\n'))
			var line struct{ Msg, URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
				ready <- line.URL
			}
		}
		ended <- cmd.Wait()
	}(s.Cmd, s.Log, s.ended)
	s.T.Cleanup(func() { _ = s.Cmd.Process.Kill() })
	select {
	case url := <-ready:
		if s.Base == "" { // later it is the same, and others may be reading it
			s.Base = url
		}
	case err := <-s.ended:
		s.T.Fatalf("the service ended: %v\n%s", err, s.Log)
	case <-time.After(time.Minute):
		s.T.Fatalf("the service is not ready\n%s", s.Log)
	}
}

// Kill ends the service as a power cut would.
func (s *Service) Kill() {
	s.T.Helper()
	if err := s.Cmd.Process.Kill(); err != nil {
		s.T.Fatal(err)
	}
	if err := <-s.ended; err == nil {
		s.T.Error("the service ended well before it could be killed")
	}
}

// Terminate asks the service to end, and waits until it has ended.
func (s *Service) Terminate() error {
	s.T.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.T.Fatal(err)
	}
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		s.T.Fatalf("the service does not end\n%s", s.Log)
		return nil
	}
}

// CLI runs a command beside the service and returns its standard output.
func (s *Service) CLI(args ...string) string {
	s.T.Helper()
	out, err := s.TryCLI(args...)
	if err != nil {
		s.T.Fatalf("wayside %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// TryCLI runs a command beside the service and returns its standard output; the error of one that fails contains its standard error.
func (s *Service) TryCLI(args ...string) (string, error) {
	cmd := exec.Command(s.Bin, append(args, "--config", s.File)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), err
}
