package systemtest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Memory reads a line of the process's status, in bytes: VmRSS is now, VmHWM the peak.
func (s *Service) Memory(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("no %s in %s", name, text)
	return 0
}

// RunWatched runs a command and returns the greatest memory in kB that it was seen to use. The kernel's figure for an ended process
// includes the memory of this one, from which it was forked.
func RunWatched(cmd *exec.Cmd) (peak int, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-tick.C:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // gone once the process has ended
			if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
				var kB int
				if _, err := fmt.Sscan(rest, &kB); err == nil && strings.Contains(string(status), "Name:\twayside") {
					peak = max(peak, kB)
				}
			}
		}
	}
}
