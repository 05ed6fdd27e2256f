//go:build unix

package cli

import "syscall"

// openFilesLimit returns how many files this process may open at the same time; known is false if there is no limit.
func openFilesLimit() (limit uint64, known bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true //nolint:gosec,unconvert // signed on some systems
}
