package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// The roles of processes that the attack starts beside the service, by running the executable of bench or of its test again.
const (
	roleFlood  = "flood"
	roleReader = "reader"
)

// attackPlan is the input of a flood or a reader, as JSON.
type attackPlan struct {
	Addr      string        // of the service
	Doors     []string      // the doors of the flood
	Network   byte          // the flood comes from 127.0.Network.1 and the addresses after it
	Addresses int           // number of the flood's addresses
	Share     int           // divides the workers of each door, so that a busy machine can run the flood in a test
	For       time.Duration // how long the flood lasts; the reader reads until its input ends
	Tokens    []string      // of push feeds
	Cookies   []string      // of signed-in accounts
	Places    [][2]float64  // latitude and longitude on roads
	Rows      [][2]float64  // places of pushed rows
}

// runRole runs the role of a process that startRole started.
func runRole(ctx context.Context, role string, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	text, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var p attackPlan
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, lines) // the end of the input ends the role, also if the parent was killed
		cancel()
	}()
	switch role {
	case roleFlood:
		return runFlood(ctx, &p, out)
	case roleReader:
		return runReader(ctx, &p, out)
	}
	return fmt.Errorf("there is no role %q", role)
}

// roleProcess is a process that was started in a role.
type roleProcess struct {
	cmd  *exec.Cmd
	stop io.Closer
	out  io.ReadCloser
}

// startRole starts this executable in a role. Floods have a low priority (nice 10), so that they take no processor time from the
// service.
func startRole(ctx context.Context, role string, p *attackPlan) (*roleProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{self, "-role=" + role}
	if role == roleFlood {
		args = append([]string{"nice", "-n", "10"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // this executable
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err == nil {
		_, err = in.Write(append(text, '\n'))
	}
	return &roleProcess{cmd, in, out}, err
}

// end closes the process's input and waits for its end.
func (p *roleProcess) end() error {
	err := p.stop.Close()
	return errors.Join(err, p.cmd.Wait())
}

// runFlood attacks through the doors of a plan until its time is over, and prints the counts of answers.
func runFlood(ctx context.Context, p *attackPlan, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, p.For)
	defer cancel()
	f := newFlood(p)
	for _, d := range attackDoors() {
		if containsDoor(p.Doors, d.name) {
			f.enter(ctx, d)
		}
	}
	f.group.Wait()
	return json.NewEncoder(out).Encode(f.counts())
}

func containsDoor(doors []string, name string) bool {
	for _, d := range doors {
		if d == name || strings.TrimSpace(d) == name {
			return true
		}
	}
	return false
}
