//go:build !unix

package imports

import (
	"os"
	"os/exec"
)

// interrupt ends a process.
func interrupt(p *os.Process) error { return p.Kill() }

// apart does nothing, because this system has no process groups.
func apart(*exec.Cmd) {}

// YieldToOthers does nothing on this system.
func YieldToOthers() error { return nil }
