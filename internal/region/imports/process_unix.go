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

// apart gives a program a process group of its own, which YieldToOthers needs.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// lowest is the priority of a process that gets what is left over.
const lowest = 19

// YieldToOthers lets this process, which has a process group of its own, have the processor time that others leave, and be the first to be
// ended where memory is short. It is the group that is named because Linux changes one thread of a process only. Where a sandbox forbids
// either, the process does without.
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
