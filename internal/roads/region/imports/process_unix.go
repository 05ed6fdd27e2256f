//go:build unix

package imports

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// interrupt asks a process to end.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// apart starts the program in its own process group, as YieldToOthers requires.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lowest is the priority of a process that gets only spare processor time.
const lowest = 19

// YieldToOthers lets this process, which must have its own process group, get only spare processor time, and makes it
// the first to be killed if memory is short. It sets the priority of the group because Linux would otherwise change only
// one thread of the process. If a sandbox forbids either setting, the process runs without it.
func YieldToOthers() error {
	var failed error
	for _, err := range []error{
		syscall.Setpriority(syscall.PRIO_PGRP, 0, lowest),
		os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o600),
	} {
		if !errors.Is(err, os.ErrPermission) && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOSYS) && !errors.Is(err, syscall.EROFS) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
