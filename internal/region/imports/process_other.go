//go:build !unix

package imports

import (
	"os"
	"os/exec"
)

// interrupt ends a process.
func interrupt(p *os.Process) error { return p.Kill() }

// apart does nothing where there are no process groups.
func apart(*exec.Cmd) {}

// YieldToOthers does nothing where there is no such thing.
func YieldToOthers() error { return nil }
