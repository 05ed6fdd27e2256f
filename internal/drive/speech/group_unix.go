//go:build unix

package speech

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup starts the program in its own process group and kills the whole group on cancellation, because a script's
// children would go on running otherwise.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
