package imports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Step is a line of JSON that the import program writes to standard error when a step begins.
type Step struct {
	Step   string `json:"step"`
	Number int    `json:"number"`
	Of     int    `json:"of"`
}

// Imported is a part of the program's final output on standard output.
type Imported struct {
	ID string `json:"id"`
}

const (
	maxLine   = 4096    // bytes of a line of the program that are read
	maxOutput = 1 << 20 // bytes of its output that are read
	// killAfter is how long the program may take to end after it was asked to; it removes its temporary file.
	killAfter = 10 * time.Second
)

// run runs one import to its end.
func (s *Service) run(ctx context.Context, i *Import) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.mu.Lock()
	i.cancel = cancel
	if i.Cancelled {
		cancel()
	}
	s.mu.Unlock()
	id, err := s.runProgram(ctx, i)
	s.mu.Lock()
	defer s.mu.Unlock()
	i.Ended, i.cancel = s.Now(), nil
	switch {
	case err == nil:
		i.Region, i.Cancelled = id, false
		s.Log.Info("a region is imported", "region", id, "files", strings.Join(i.Files, ", "), "took", i.Ended.Sub(i.Began).Round(time.Millisecond).String())
	case i.Cancelled:
		s.Log.Info("the import of a region is cancelled", "files", strings.Join(i.Files, ", "))
	default:
		i.Problem = err.Error()
		if ctx.Err() != nil {
			i.Problem = "it took too long, or the service stopped"
		}
		s.Log.Warn("a region is not imported", "files", strings.Join(i.Files, ", "), "error", i.Problem)
	}
}

// runProgram runs the program and returns the ID of the new region.
func (s *Service) runProgram(ctx context.Context, i *Import) (string, error) {
	args := append(s.Command[1:len(s.Command):len(s.Command)], "--json", "--background")
	if len(i.Without) > 0 {
		args = append(args, "--without", strings.Join(i.Without, ","))
	}
	for _, name := range i.Files {
		args = append(args, filepath.Join(s.Extracts, name))
	}
	cmd := exec.CommandContext(ctx, s.Command[0], args...) //nolint:gosec // the service's own program, with checked names
	cmd.Env = []string{}                                   // no configuration and no secret
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = killAfter
	apart(cmd)
	var out bytes.Buffer
	cmd.Stdout = &limitedWriter{&out, maxOutput}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	last := s.follow(stderr, i)
	if err := cmd.Wait(); err != nil {
		return "", s.problem(last, err)
	}
	var done Imported
	if err := json.Unmarshal(out.Bytes(), &done); err != nil || done.ID == "" {
		return "", errors.New("the program that imports does not say what it made")
	}
	return done.ID, nil
}

// follow reads the program's standard error, and returns the last line that is not a step.
func (s *Service) follow(stderr io.Reader, i *Import) (last string) {
	lines := bufio.NewReaderSize(stderr, maxLine)
	for {
		text, long, err := lines.ReadLine()
		if err != nil {
			return last
		}
		line := string(text)
		for long && err == nil {
			_, long, err = lines.ReadLine()
		}
		var step Step
		if json.Unmarshal([]byte(line), &step) != nil || step.Step == "" {
			last = line
			continue
		}
		s.mu.Lock()
		i.Step, i.Number, i.Of = step.Step, step.Number, step.Of
		s.mu.Unlock()
	}
}

// problem returns the error that an admin sees after a failure: the program's own words, without paths of this machine.
func (s *Service) problem(last string, err error) error {
	last = strings.TrimPrefix(last, "wayside: ")
	for _, dir := range []string{s.Extracts, string(s.Folder), filepath.Dir(string(s.Folder))} {
		last = strings.ReplaceAll(last, dir+string(filepath.Separator), "")
	}
	if last == "" {
		return errors.New("the import ended early: " + err.Error())
	}
	return errors.New(last)
}

// limitedWriter passes the first bytes on and drops the rest.
type limitedWriter struct {
	to   *bytes.Buffer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}
