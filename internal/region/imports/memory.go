package imports

import (
	"bytes"
	"os"
	"strconv"
)

// FreeMemory is how many bytes programs can still take on this machine, or in this container where that is less; 0: not known.
func FreeMemory() int64 {
	free := int64(0)
	text, _ := os.ReadFile("/proc/meminfo") // elsewhere than on Linux there is none
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("MemAvailable:")); ok {
			free = 1024 * number(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB")))
		}
	}
	most, used := readNumber("/sys/fs/cgroup/memory.max"), readNumber("/sys/fs/cgroup/memory.current")
	if most > 0 && (free == 0 || most-used < free) {
		free = max(most-used, 1)
	}
	return free
}

func readNumber(file string) int64 {
	text, _ := os.ReadFile(file) //nolint:gosec // two fixed names
	return number(text)
}

// number is a whole number; 0: it is none, such as "max".
func number(text []byte) int64 {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
