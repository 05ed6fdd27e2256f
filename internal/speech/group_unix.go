//go:build unix

package speech

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup gives a program a process group of its own, and has all of it killed: a script's children would go on otherwise.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
