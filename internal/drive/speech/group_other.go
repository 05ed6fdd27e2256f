//go:build !unix

package speech

import "os/exec"

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

func isBrokenPipe(error) bool { return false }
