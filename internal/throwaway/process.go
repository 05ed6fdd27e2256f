package throwaway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
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
		return errors.Join(fmt.Errorf("%s did not stop in %v", filepath.Base(p.cmd.Path), patience), p.family(syscall.SIGKILL))
	}
}

// family sends a signal to the process and its children, which may lead process groups of their own. The process itself
// is held first, and so makes no further children.
func (p *process) family(s syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	own := p.cmd.Process.Pid
	err := p.signal(own, syscall.SIGSTOP)
	for _, child := range childrenOf(own) {
		err = errors.Join(err, p.signal(child, s))
	}
	return errors.Join(err, p.signal(own, s))
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
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // gone since
		}
		// 123 (a name) S 1 …: the parent stands second after the name.
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
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

// freePort finds one that nobody listens on. Somebody else may take it before the server does: then another is tried.
func freePort() (int, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	return int(at.Port()), errors.Join(err, l.Close())
}

// portTries is how many ports are tried before it is said that there is another reason.
const portTries = 3

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

// ended waits until none of the processes runs any more. Nobody may have taken notice of their end yet.
func ended(pids []int) error {
	deadline := time.Now().Add(patience)
	for _, pid := range pids {
		for running(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d did not end in %v", pid, patience)
			}
			time.Sleep(lookEach)
		}
	}
	return nil
}

// running says whether a process exists and has not ended.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the program's name may hold anything
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
