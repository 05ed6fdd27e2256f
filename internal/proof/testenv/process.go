package testenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Time limits.
const (
	serverTimeout = 2 * time.Minute
	lookEach      = 10 * time.Millisecond
)

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed once it ended
}

// launch starts a program in a new process group. When this process ends, for whatever reason, the system sends the signal last to
// the program.
func launch(cmd *exec.Cmd, last syscall.Signal) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	signalOnParentExit(cmd.SysProcAttr, last)
	p := &process{cmd: cmd, gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The system watches the thread that started the program, not the process, so that the thread must live as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		cmd.Wait() //nolint:errcheck // the exit status of a server that was stopped has no meaning
		close(p.gone)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// alive reports whether the process is running.
func (p *process) alive() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// end sends a signal and waits until the process is gone.
func (p *process) end(s syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", filepath.Base(p.cmd.Path), err)
	}
	select {
	case <-p.gone:
		return nil
	case <-time.After(serverTimeout):
		return errors.Join(fmt.Errorf("%s did not stop in %v", filepath.Base(p.cmd.Path), serverTimeout), p.kill())
	}
}

// signalTree sends a signal to the process and its children, which may be in other process groups, and returns the children. It
// stops the process itself first, so that it starts no further children.
func (p *process) signalTree(s syscall.Signal) (children []int, err error) {
	if !p.alive() {
		return nil, nil
	}
	own := p.cmd.Process.Pid
	if err := p.signal(own, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	if err := waitUntil(func() bool { return strings.Contains("TtZX", stateOf(own)) }); err != nil {
		return nil, fmt.Errorf("hold %s: %w", filepath.Base(p.cmd.Path), err)
	}
	children = childrenOf(own)
	for _, child := range children {
		err = errors.Join(err, p.signal(child, s))
	}
	return children, errors.Join(err, p.signal(own, s))
}

// kill ends the process and its children, and waits until all are gone: a remaining one would hold shared memory.
func (p *process) kill() error {
	children, err := p.signalTree(syscall.SIGKILL)
	for _, pid := range append(children, p.cmd.Process.Pid) {
		err = errors.Join(err, waitUntil(func() bool { return strings.Contains("ZX", stateOf(pid)) }))
	}
	if err == nil {
		<-p.gone
	}
	return err
}

// waitUntil polls a condition until it holds or serverTimeout has passed.
func waitUntil(holds func() bool) error {
	deadline := time.NewTimer(serverTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			return errors.New("it takes too long")
		case <-tick.C:
		}
	}
	return nil
}

// stateOf returns the letter of a process's state, such as T for stopped; X means that it is gone.
func stateOf(pid int) string {
	fields := statOf(pid)
	if len(fields) == 0 {
		return "X"
	}
	return fields[0]
}

// statOf reads the fields of /proc/PID/stat from the state on; nil means that the process is gone.
func statOf(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// 123 (a name) S 1 …
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// signal sends a signal to a process. It does not fail if the process is gone.
func (*process) signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v: %w", s, err)
	}
	return nil
}

// childrenOf lists a process's children.
func childrenOf(pid int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil { // only a bad pattern fails
		return nil
	}
	var all []int
	for _, path := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if fields := statOf(child); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			all = append(all, child)
		}
	}
	return all
}

// waitReady calls ready until it returns nil. When the process ends or serverTimeout passes, it fails with the end of the
// server's log.
func (p *process) waitReady(ready func() error, log string) error {
	deadline := time.NewTimer(serverTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-p.gone:
			return fmt.Errorf("%s ended immediately: %s", filepath.Base(p.cmd.Path), lastLines(log))
		case <-deadline.C:
			return fmt.Errorf("%s does not answer: %w: %s", filepath.Base(p.cmd.Path), err, lastLines(log))
		case <-tick.C:
		}
	}
}

// lastLines returns the end of a server's log.
func lastLines(log string) string {
	raw, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return string(raw[max(0, len(raw)-most):])
}

// Ports are below the range of ephemeral ports, so that no outgoing connection takes the port of a server that is
// stopped.
const (
	firstPort = 15_000
	ports     = 17_000
)

// freePort finds a port without a listener. Another process may take it before the server does; then onFreePort tries
// another.
func freePort() (int, error) {
	var all error
	for range portTries {
		n, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return 0, err
		}
		port := firstPort + int(n.Int64())
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, l.Close()
		}
		all = errors.Join(all, err)
	}
	return 0, fmt.Errorf("find a free port: %w", all)
}

// portTries is how many ports are tried before onFreePort gives up.
const portTries = 5

// onFreePort starts a server on a free port.
func onFreePort(start func(port int) error) error {
	var all error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return err
		}
		if err = start(port); err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return all
}
