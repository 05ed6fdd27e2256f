package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"wayside/internal/nodes/valkey"
)

const (
	versionsChannel = "regions"
	// versionEvery is how often a node publishes the data version of its region.
	versionEvery = 5 * time.Second
	// versionKept is how long a node counts after its last message.
	versionKept = 4 * versionEvery
	// warnAfter is how long versions differ before a warning is logged, because nodes do not take over an import at the same
	// moment.
	warnAfter = time.Minute
	// maxNodes bounds the remembered nodes, and maxVersion the length of a version in bytes.
	maxNodes   = 1024
	maxVersion = 64
)

// VersionsConfig holds the dependencies of Versions.
type VersionsConfig struct {
	Cache *valkey.Conn
	Own   func() string // data version of this node's region; empty: it has none
	Now   func() time.Time
	Log   *slog.Logger
}

// Versions knows the data versions of the other nodes' regions: nodes whose regions differ return different routes, or none. The
// versions have a separate channel, so that nodes of an earlier release need not understand them. Differ may be called from any
// goroutine.
type Versions struct {
	VersionsConfig
	node [nodeSize]byte

	mu    sync.Mutex
	heard map[[nodeSize]byte]heardVersion

	// Only Run uses these.
	since  time.Time // since when they differ; zero: they do not
	warned bool
}

// heardVersion is the last version of another node.
type heardVersion struct {
	version string
	at      time.Time
}

// NewVersions returns Versions with a random name of this node.
func NewVersions(c VersionsConfig) *Versions {
	v := &Versions{VersionsConfig: c, heard: make(map[[nodeSize]byte]heardVersion)}
	_, _ = rand.Read(v.node[:]) // never fails
	return v
}

// Differ reports whether another node serves another region than this one.
func (v *Versions) Differ() bool {
	_, differs := v.other()
	return differs
}

// Greatest returns the greatest of all nodes' versions by an order in which the empty version, of a node without a region, comes
// first.
func (v *Versions) Greatest(compare func(a, b string) int) string {
	greatest, now := v.Own(), v.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.heard {
		if now.Sub(h.at) < versionKept {
			greatest = slices.MaxFunc([]string{greatest, h.version}, compare)
		}
	}
	return greatest
}

// other returns a version that another node has and this one lacks.
func (v *Versions) other() (version string, differs bool) {
	own, now := v.Own(), v.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, h := range v.heard {
		if h.version != own && now.Sub(h.at) < versionKept {
			return h.version, true
		}
	}
	return "", false
}

// Run publishes this node's version and receives those of the others, until ctx ends.
func (v *Versions) Run(ctx context.Context) error {
	var following sync.WaitGroup
	var err error
	following.Go(func() { err = v.Cache.Follow(ctx, versionsChannel, func() {}, v.handle) })
	tick := time.NewTicker(versionEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		v.publish(ctx)
		v.warn()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	following.Wait()
	return err
}

func (v *Versions) publish(ctx context.Context) {
	text := append(append(make([]byte, 0, 1+nodeSize+maxVersion), version), v.node[:]...)
	if err := v.Cache.Publish(ctx, versionsChannel, append(text, v.Own()...)); err != nil && ctx.Err() == nil {
		v.Log.Debug("cannot tell other nodes which region is served", "error", err)
	}
}

// warn logs once that versions differ, and once that they no longer do.
func (v *Versions) warn() {
	v.forget()
	other, differs := v.other()
	switch now := v.Now(); {
	case !differs && v.warned:
		v.Log.Info("all nodes serve the same region again", "data_version", v.Own())
		v.since, v.warned = time.Time{}, false
	case !differs:
		v.since = time.Time{}
	case v.since.IsZero():
		v.since = now
	case !v.warned && now.Sub(v.since) >= warnAfter:
		v.Log.Warn("another node serves another region, so that routes depend on the node: import the same extract on each, or copy the file",
			"data_version", v.Own(), "other", other)
		v.warned = true
	}
}

// forget drops nodes without a message within versionKept.
func (v *Versions) forget() {
	now := v.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	for node, h := range v.heard {
		if now.Sub(h.at) >= versionKept {
			delete(v.heard, node)
		}
	}
}

// handle handles another node's message, and ignores one of another form.
func (v *Versions) handle(text []byte) {
	if len(text) < 1+nodeSize || len(text) > 1+nodeSize+maxVersion || text[0] != version {
		return
	}
	node := [nodeSize]byte(text[1:])
	if node == v.node {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.heard[node]; known || len(v.heard) < maxNodes {
		v.heard[node] = heardVersion{string(text[1+nodeSize:]), v.Now()}
	}
}
