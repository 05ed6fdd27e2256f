//go:build unix

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// becomeOwner lets root continue as the user to whom the data directory belongs, so that the service of a package can read and
// write the files that a command makes in it; the configuration becomes readable for that user's group. It reports whether it did;
// nothing changes for other users and for folders that belong to root.
func becomeOwner(config, dataDir string) (bool, error) {
	if os.Geteuid() != 0 {
		return false, nil
	}
	info, err := os.Stat(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return false, nil
	}
	uid, gid := int(stat.Uid), int(stat.Gid)
	if err := errors.Join(os.Chown(config, 0, gid), os.Chmod(config, 0o640)); err != nil { //nolint:gosec // the group is the service's
		return false, err
	}
	if err := errors.Join(syscall.Setgroups([]int{gid}), syscall.Setgid(gid), syscall.Setuid(uid)); err != nil {
		return false, fmt.Errorf("go on as the owner of %s: %w", dataDir, err)
	}
	return true, nil
}
