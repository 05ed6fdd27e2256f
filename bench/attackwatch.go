package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// usage holds the resources that the service uses at a time.
type usage struct {
	memory      float64 // resident, in MB
	peak        float64 // the highest since resetPeak, in MB
	descriptors int
	goroutines  int
	disk        float64 // of the data directory, in MB
}

// use measures the service.
func (b *bench) use() (u usage, err error) {
	if u.memory, u.peak, err = b.memory(); err != nil {
		return u, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.process.Process.Pid))
	if err != nil {
		return u, err
	}
	u.descriptors = len(open)
	goroutines, err := b.metric("go_goroutines")
	u.goroutines = int(goroutines)
	u.disk = diskUse(filepath.Join(b.dir, "data"))
	return u, err
}

func diskUse(dir string) (megabytes float64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // files may disappear meanwhile
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // as above
		}
		if info, err := e.Info(); err == nil {
			megabytes += float64(info.Size()) / 1e6
		}
		return nil
	})
	return megabytes
}

// watchInterval is how often the service is measured during a phase.
const watchInterval = 500 * time.Millisecond

// usageWatch keeps the highest usage of a phase.
type usageWatch struct {
	group  sync.WaitGroup
	cancel context.CancelFunc
	most   usage
	err    error
}

// watchUsage measures the service until end is called.
func (b *bench) watchUsage(ctx context.Context) *usageWatch {
	w := &usageWatch{}
	ctx, w.cancel = context.WithCancel(ctx)
	w.group.Go(func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			u, err := b.use()
			if err != nil {
				w.err = err
				continue // the service may be too busy to answer; if it has ended, the last error remains
			}
			w.err = nil
			w.most.memory, w.most.peak = max(w.most.memory, u.memory), max(w.most.peak, u.peak)
			w.most.descriptors, w.most.goroutines = max(w.most.descriptors, u.descriptors), max(w.most.goroutines, u.goroutines)
			w.most.disk = max(w.most.disk, u.disk)
		}
	})
	return w
}

// end returns the highest usage.
func (w *usageWatch) end() (usage, error) {
	w.cancel()
	w.group.Wait()
	return w.most, w.err
}
