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

// Bounds of patience.
const (
	patience = 30 * time.Second
	lookEach = 10 * time.Millisecond
)

// process is a server that runs.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed once it ended
}

// launch starts a program in a process group of its own. Once this process is gone, whatever the reason, the program gets
// the signal last.
func launch(cmd *exec.Cmd, last syscall.Signal) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	endWithUs(cmd.SysProcAttr, last)
	p := &process{cmd: cmd, gone: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The system watches the thread that started the program, not the process: it must live as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		cmd.Wait() //nolint:errcheck // how a server that is stopped ends says nothing
		close(p.gone)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// alive says whether it runs.
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
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s did not stop in %v", filepath.Base(p.cmd.Path), patience), p.kill())
	}
}

// family sends a signal to the process and its children, which may lead process groups of their own, and lists them. The
// process itself is held first, and so makes no further children.
func (p *process) family(s syscall.Signal) (children []int, err error) {
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

// kill ends the process and its children, and waits until all are gone: one that is left would hold what they share.
func (p *process) kill() error {
	children, err := p.family(syscall.SIGKILL)
	for _, pid := range append(children, p.cmd.Process.Pid) {
		err = errors.Join(err, waitUntil(func() bool { return strings.Contains("ZX", stateOf(pid)) }))
	}
	if err == nil {
		<-p.gone
	}
	return err
}

// waitUntil looks until something is so, or patience ends.
func waitUntil(so func() bool) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for !so() {
		select {
		case <-deadline.C:
			return errors.New("it takes too long")
		case <-tick.C:
		}
	}
	return nil
}

// stateOf is the letter of a process's state, such as T for stopped; X: it is gone.
func stateOf(pid int) string {
	fields := statOf(pid)
	if len(fields) == 0 {
		return "X"
	}
	return fields[0]
}

// statOf reads what the system says of a process: its state, its parent, and more. None: it is gone.
func statOf(pid int) []string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// 123 (a name) S 1 …
	return strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
}

// signal sends one. Whoever is gone already needs none.
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

// until calls ready until it gives nil. It fails when the process ends or patience does, with what the server wrote.
func (p *process) until(ready func() error, log string) error {
	deadline := time.NewTimer(patience)
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
			return fmt.Errorf("%s ended at once: %s", filepath.Base(p.cmd.Path), lastLines(log))
		case <-deadline.C:
			return fmt.Errorf("%s does not answer: %w: %s", filepath.Base(p.cmd.Path), err, lastLines(log))
		case <-tick.C:
		}
	}
}

// lastLines is the end of what a server wrote.
func lastLines(log string) string {
	raw, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return string(raw[max(0, len(raw)-most):])
}

// Ports are taken from below those that systems give to whoever connects: nobody comes by one by chance while its server
// is stopped.
const (
	firstPort = 15_000
	ports     = 17_000
)

// freePort finds one that nobody listens on. Somebody else may take it before the server does: then another is tried.
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

// portTries is how many ports are tried before it is said that there is another reason.
const portTries = 5

// onFreePort starts a server on a port that is free.
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
