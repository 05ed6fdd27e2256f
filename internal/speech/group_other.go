//go:build !unix

package speech

import "os/exec"

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

func isBrokenPipe(error) bool { return false }
