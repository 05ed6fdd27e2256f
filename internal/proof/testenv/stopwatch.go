package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Stopwatch measures how long something takes on a machine that does nothing else: what threads of the processes under test wait for a
// processor does not count. A promise such as "within a second" is checked with it, and holds on a busy machine too. What the processes
// themselves wait for, such as a timer or a file, counts, and so does their work.
type Stopwatch struct {
	pids   []int
	began  time.Time
	before time.Duration
}

// StartStopwatch starts a stopwatch for this process and the processes with the given numbers.
func StartStopwatch(pids ...int) *Stopwatch {
	s := &Stopwatch{pids: append(pids, os.Getpid())}
	s.before = s.waited()
	s.began = time.Now()
	return s
}

// Took returns the time since the start, without what threads waited for a processor.
func (s *Stopwatch) Took() time.Duration {
	clock := s.Clock()
	return max(0, clock-s.Waited())
}

// Clock returns the time since the start by the clock.
func (s *Stopwatch) Clock() time.Duration { return time.Since(s.began) }

// Waited returns for how long threads waited for a processor since the start: added up, so that it may be longer than the clock says.
func (s *Stopwatch) Waited() time.Duration { return max(0, s.waited()-s.before) }

// waited returns for how long the threads of the processes have waited for a processor so far: zero where the system does not tell.
func (s *Stopwatch) waited() (all time.Duration) {
	for _, pid := range s.pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil { // only a bad pattern fails
			return 0
		}
		for _, path := range threads {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // the thread has ended
			}
			var ran, delayed int64
			if _, err := fmt.Sscan(string(text), &ran, &delayed); err == nil {
				all += time.Duration(delayed)
			}
		}
	}
	return all
}
