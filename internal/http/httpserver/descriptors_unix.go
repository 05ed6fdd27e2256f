//go:build unix

package httpserver

import "syscall"

// maxOpenFiles returns how many files this process may have open.
func maxOpenFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
