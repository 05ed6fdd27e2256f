package region

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lookEvery is how often a service looks which region is current.
	lookEvery = time.Second
	// retryAfter is after how long a file that could not be read is tried again; one that is replaced is tried as soon as it is seen.
	retryAfter = time.Minute
	// unmapAfter is how long memory stays mapped after nobody can reach the region any more: a reader that kept a slice and let go of the
	// region too early reads on. No answer takes as long.
	unmapAfter = 2 * time.Minute
)

// Off is the setting by which a service has no region.
const Off = "off"

// CurrentOptions are what Current needs.
type CurrentOptions struct {
	Folder Folder
	Choice string // empty: the folder's current region; Off: none; otherwise the path of a file
	Now    func() time.Time
	Log    *slog.Logger
	// Changed is called with each region before readers get it, and with nil before they get none, from one goroutine at a time. nil: not.
	Changed func(*Region)
	// Served is called after readers got another region, or none. nil: not.
	Served func()
}

// Current is the region that a running service answers from. Its methods may be called from any goroutine.
type Current struct {
	CurrentOptions
	region  atomic.Pointer[Region]
	problem atomic.Pointer[Problem]

	// What the last look found; only Open and Run, one after the other, use it.
	seen  identity
	tried time.Time

	mu      sync.Mutex
	retired []retired // waiting to be unmapped
}

// retired is memory that nobody can reach.
type retired struct {
	mapping *mapping
	at      time.Time
}

// Problem is why a region is not served.
type Problem struct {
	Path   string
	Reason Reason
	Err    error
}

// Reason is a class of problems, for people who are told no paths.
type Reason string

// The reasons.
const (
	Damaged    Reason = "damaged"    // a checksum is wrong
	OldFormat  Reason = "format"     // another version of this program wrote the file
	Unreadable Reason = "unreadable" // everything else, such as a file that is not there
)

func reasonOf(err error) Reason {
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		return Damaged
	case errors.Is(err, ErrFormat):
		return OldFormat
	}
	return Unreadable
}

// Open opens the region that is current now. That there is none, or that it cannot be read, is no error: Problem says why.
func Open(ctx context.Context, o CurrentOptions) *Current {
	c := &Current{CurrentOptions: o}
	if c.Choice == "" {
		if err := c.Folder.Sweep(); err != nil {
			c.Log.Warn("what an import left that was killed cannot be removed", "error", err)
		}
	}
	if err := c.Folder.tighten(); err != nil {
		c.Log.Warn("the folder of regions cannot be closed to other accounts", "error", err)
	}
	c.look(ctx)
	return c
}

// Region is the region to answer from; nil: there is none. Keep it until the answer is written.
func (c *Current) Region() *Region { return c.region.Load() }

// Problem is why the region that should be current is not served; nil: it is, or there should be none.
func (c *Current) Problem() *Problem { return c.problem.Load() }

// Run takes over regions that become current until ctx ends.
func (c *Current) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			c.look(ctx)
			c.unmap()
		}
	}
}

// look takes over the current region if it is another one than at the last look.
func (c *Current) look(ctx context.Context) {
	if c.Choice == Off {
		return
	}
	path, err := c.path()
	now := identity{path: path}
	if err == nil && path != "" {
		if now.info, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			err = errors.New("the file is not there")
		}
	}
	failed := c.problem.Load() != nil
	if now.same(c.seen) && (!failed || c.Now().Sub(c.tried) < retryAfter) && (err == nil || failed) {
		return
	}
	c.seen, c.tried = now, c.Now()
	switch {
	case err != nil:
		c.fail(path, err)
	case path == "":
		c.problem.Store(nil)
		if c.region.Load() != nil {
			c.put(nil)
			c.Log.Info("there is no current region any more: routes are not served")
		}
	default:
		c.take(ctx, path)
	}
}

// path is that of the region that should be served; empty: none.
func (c *Current) path() (string, error) {
	if c.Choice != "" {
		return c.Choice, nil
	}
	id, err := c.Folder.Current()
	if err != nil || id == "" {
		return "", err
	}
	return c.Folder.Path(id), nil
}

// take opens a region and serves it. When it cannot be read, the one before stays, unless it is the same file: that was shortened or
// overwritten where it lies. Its copy could still be served, but a service that starts again could not, and the operator should learn so now.
func (c *Current) take(ctx context.Context, path string) {
	began := time.Now()
	r, err := c.load(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		if c.overwritten(path) {
			c.put(nil)
			err = fmt.Errorf("the file of the served region was shortened or overwritten, so that no region is served: write another file beside it and rename it: %w", err)
		}
		c.fail(path, err)
		return
	}
	c.put(r)
	c.problem.Store(nil)
	c.Log.Info("the region is served", "region", r.ID, "data_version", r.DataVersion, "arcs", r.Arcs,
		"bytes", r.Bytes, "took", time.Since(began).Round(time.Millisecond).String())
}

// load opens a region and makes the folder of its private copy, if need be.
func (c *Current) load(ctx context.Context, path string) (*Region, error) {
	if _, err := c.Folder.make(); err != nil {
		return nil, err
	}
	in, err := openToServe(ctx, path, string(c.Folder))
	if err != nil {
		return nil, err
	}
	return load(ctx, in, path, c.retire)
}

// overwritten reports whether the file at the path is that of the served region, but with other bytes.
func (c *Current) overwritten(path string) bool {
	r := c.region.Load()
	if r == nil || r.Path != path {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, r.info) && !(identity{path, info}).same(identity{path, r.info})
}

func (c *Current) put(r *Region) {
	if c.Changed != nil {
		c.Changed(r)
	}
	c.region.Store(r)
	if c.Served != nil {
		c.Served()
	}
}

// fail notes why a region is not served. It is logged when it is new.
func (c *Current) fail(path string, err error) {
	before := c.problem.Swap(&Problem{path, reasonOf(err), err})
	if before != nil && before.Path == path && before.Err.Error() == err.Error() {
		return
	}
	served := "none"
	if r := c.region.Load(); r != nil {
		served = r.ID
	}
	c.Log.Error("the current region is not served: import it again", "file", path, "served", served, "error", err)
}

// retire keeps memory that nobody can reach until it may be unmapped.
func (c *Current) retire(m *mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = append(c.retired, retired{m, c.Now()})
}

// unmap unmaps what was retired long enough ago.
func (c *Current) unmap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.retired[:0]
	for _, r := range c.retired {
		if c.Now().Sub(r.at) < unmapAfter {
			kept = append(kept, r)
		} else if err := r.mapping.memory.Unmap(); err != nil {
			c.Log.Warn("the memory of a replaced region cannot be released", "error", err)
		}
	}
	clear(c.retired[len(kept):])
	c.retired = kept
}
