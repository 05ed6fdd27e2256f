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

// server is common to all kinds of server: a folder, and a process that can be started and stopped.
type server struct {
	folder *folder
	port   int

	mu      sync.Mutex
	process *process
}

func (s *server) log() string { return filepath.Join(s.folder.path, "log") }

// PID returns the number of the server's process, or 0 if it is not running.
func (s *server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.process.alive() {
		return 0
	}
	return s.process.cmd.Process.Pid
}

func (s *server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.alive()
}

// start runs cmd in the server's folder and waits until it answers; it does nothing if the server is running. last is the signal
// that ends the server when it does not answer, and once this process is gone.
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
	defer log.Close() //nolint:errcheck // the server has its own descriptor
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.folder.path, log, log
	if s.process, err = launch(cmd, last); err != nil {
		return fmt.Errorf("start %s: %w", what, err)
	}
	if err := s.process.waitReady(answers, s.log()); err != nil {
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

// Pause stops the server and all its children with SIGSTOP: connections stay open, and the system even accepts new ones,
// but they get no answer.
func (s *server) Pause() error { return s.signal(syscall.SIGSTOP) }

// Resume continues a paused server.
func (s *server) Resume() error { return s.signal(syscall.SIGCONT) }

func (s *server) signal(one syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.process.signalTree(one)
	return err
}
