package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// server is what all servers share: a folder, and a process that comes and goes.
type server struct {
	folder *folder
	port   int

	mu      sync.Mutex
	process *process
}

func (s *server) log() string { return filepath.Join(s.folder.path, "log") }

func (s *server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.alive()
}

// start runs cmd in the server's folder and waits until it answers; one that runs already is left alone. last is the signal
// that ends it, also when it does not answer, or once this process is gone.
func (s *server) start(what string, cmd *exec.Cmd, last syscall.Signal, answers func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process.alive() {
		return nil
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", what, err)
	}
	defer log.Close() //nolint:errcheck // the server writes by a descriptor of its own
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.folder.path, log, log
	if s.process, err = launch(cmd, last); err != nil {
		return fmt.Errorf("start %s: %w", what, err)
	}
	if err := s.process.until(answers, s.log()); err != nil {
		return errors.Join(err, s.process.end(last))
	}
	return nil
}

// end sends a signal and waits until the server is gone.
func (s *server) end(by syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.end(by)
}

// Pause holds the server and all its children: connections stay open, and new ones are even taken by the system, but nobody
// answers.
func (s *server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume lets a server go on that was paused.
func (s *server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *server) signal(one syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.process.family(one)
	return err
}
