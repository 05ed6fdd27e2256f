//go:build linux || darwin

package cli

import "syscall"

// freeDisk returns how many bytes an account without privileges may still write to the disk of a folder.
func freeDisk(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:gosec,unconvert // the types differ by system
}
