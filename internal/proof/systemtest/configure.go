package systemtest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Configure replaces the configuration of a running service and asks the service to read it.
func (s *Service) Configure(text string) {
	s.T.Helper()
	full := fmt.Sprintf("data_dir = %q\n%s\n[http]\nlisten = \"127.0.0.1:0\"\n", s.Dir, text)
	if err := os.WriteFile(s.File, []byte(full), 0o600); err != nil {
		s.T.Fatal(err)
	}
	if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		s.T.Fatal(err)
	}
}

// Logged waits for the n-th occurrence of a text in the log.
func (s *Service) Logged(text string, n int) {
	s.T.Helper()
	Eventually(s.T, "the log says "+text, func() bool { return strings.Count(s.Log.String(), text) >= n })
}

// ReloadedLine is what the service logs after each reload.
const ReloadedLine = "the configuration was reloaded"
