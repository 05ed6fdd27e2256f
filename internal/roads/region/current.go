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
	// lookEvery is the interval at which a service checks which region is current.
	lookEvery = time.Second
	// retryAfter is how long a service waits before it tries an unreadable file again. It tries a replaced file as soon
	// as it sees the replacement.
	retryAfter = time.Minute
	// unmapAfter is how long memory stays mapped after the region has become unreachable, for readers that keep a slice
	// but drop the region too early. No answer takes as long.
	unmapAfter = 2 * time.Minute
)

// Off is the setting of a service without a region.
const Off = "off"

// CurrentOptions configure Current.
type CurrentOptions struct {
	Folder Folder
	Choice string // empty: the folder's current region; Off: none; otherwise the path of a file
	Now    func() time.Time
	Log    *slog.Logger
	// Changed is called with each region before readers get it, and with nil before they get none, never concurrently.
	// It may be nil.
	Changed func(*Region)
	// Served is called after readers got another region, or none. It may be nil.
	Served func()
}

// Current is the region that a running service answers from. Its methods are safe for concurrent use.
type Current struct {
	CurrentOptions
	region  atomic.Pointer[Region]
	problem atomic.Pointer[Problem]

	// State of the last look. Only Open and then Run use it.
	seen  identity
	tried time.Time

	mu      sync.Mutex
	retired []retired // waiting to be unmapped
}

// retired is memory of an unreachable region.
type retired struct {
	mapping *mapping
	at      time.Time
}

// Problem is the reason why a region is not served.
type Problem struct {
	Path   string
	Reason Reason
	Err    error
}

// Reason is a class of problems, for users who must not see paths.
type Reason string

// The reasons.
const (
	Damaged    Reason = "damaged"    // a checksum is wrong
	OldFormat  Reason = "format"     // another version of this program wrote the file
	Unreadable Reason = "unreadable" // everything else, such as a missing file
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

// Open opens the current region. It does not fail if there is none, or if it cannot be read: Problem returns the reason.
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

// Region returns the region to answer from, or nil. The caller must keep it until the answer is written.
func (c *Current) Region() *Region { return c.region.Load() }

// Problem returns why the region that should be current is not served, or nil if it is, or there should be none.
func (c *Current) Problem() *Problem { return c.problem.Load() }

// Run serves regions that become current until ctx ends.
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

// look takes over the current region if it has changed since the last look.
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

// path returns the path of the region that should be served, or "".
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

// take opens a region and serves it. If the region cannot be read, the previous one stays, unless it is from the same
// file, which was then truncated or overwritten. The service could still serve its private copy of that file, but not
// after a restart, and the operator should learn of the damage now.
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

// load opens a region, and creates the folder for its private copy if necessary.
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

// overwritten reports whether the file at the path is that of the served region, but with other contents.
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

// fail records why a region is not served, and logs it if the reason is new.
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

// retire keeps memory of an unreachable region until it may be unmapped.
func (c *Current) retire(m *mapping) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = append(c.retired, retired{m, c.Now()})
}

// unmap unmaps memory that was retired at least unmapAfter ago.
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
