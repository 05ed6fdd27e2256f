//go:build unix

package region

import (
	"os"
	"syscall"
)

// giveTo makes the owner of a folder the owner of a path, if root created the path, because the account of the service
// must be able to read it.
func giveTo(path, folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return nil
	}
	return os.Lchown(path, int(stat.Uid), int(stat.Gid))
}
