package imports

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
)

// FreeMemory returns how many more bytes programs can take on this machine, or in this container if that is less, or 0
// if that is unknown.
func FreeMemory() int64 { return freeMemory(os.DirFS("/")) }

// freeMemory reads the files in which Linux reports it. Other systems lack them.
func freeMemory(root fs.FS) int64 {
	const cgroup = "sys/fs/cgroup/memory."
	free := 1024 * field(root, "proc/meminfo", "MemAvailable:")
	most := field(root, cgroup+"max", "")
	if most == 0 {
		return free
	}
	// Cached file contents count as used, but the system frees them when needed.
	used := field(root, cgroup+"current", "") - field(root, cgroup+"stat", "inactive_file")
	if left := max(most-used, 1); free == 0 || left < free {
		return left
	}
	return free
}

// field returns the number after a name at the start of a line of a file, or 0 if there is none.
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
