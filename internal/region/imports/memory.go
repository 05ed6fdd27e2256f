package imports

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
)

// FreeMemory is how many bytes programs can still take on this machine, or in this container where that is less; 0: not known.
func FreeMemory() int64 { return freeMemory(os.DirFS("/")) }

// freeMemory reads what Linux says. Elsewhere there are no such files.
func freeMemory(root fs.FS) int64 {
	const cgroup = "sys/fs/cgroup/memory."
	free := 1024 * field(root, "proc/meminfo", "MemAvailable:")
	most := field(root, cgroup+"max", "")
	if most == 0 {
		return free
	}
	// What was read of files counts as used, and is given up when somebody needs it.
	used := field(root, cgroup+"current", "") - field(root, cgroup+"stat", "inactive_file")
	if left := max(most-used, 1); free == 0 || left < free {
		return left
	}
	return free
}

// field is the number behind a name at the start of a line of a file; 0: there is none.
func field(root fs.FS, file, name string) int64 {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if name != "" && len(words) > 0 && string(words[0]) == name {
			words = words[1:]
		} else if name != "" {
			continue
		}
		if len(words) == 0 {
			return 0
		}
		n, err := strconv.ParseInt(string(words[0]), 10, 64)
		if err != nil {
			return 0 // such as "max": no bound
		}
		return n
	}
	return 0
}
