package valkey

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"wayside/internal/ground/mapdata"
)

// Limits of a connection. A hanging server is noticed within pingInterval + callTimeout, and so is its return.
const (
	callTimeout  = 500 * time.Millisecond // of one call
	pingInterval = 250 * time.Millisecond
	// maxCalls bounds the calls under way; further ones fail, because no server answers so many in time. The library's ring buffer
	// holds twice as many, because a full one blocks without regard to the context.
	maxCalls  = 2048
	ringScale = 12 // size of that ring buffer, as a power of two
)

// prefix begins every key and channel, so that other programs can use the server too.
const prefix = "wayside:"

// Options configure a Conn, besides its URL.
type Options struct {
	Log   *slog.Logger
	Roots *x509.CertPool // for TLS; nil: the system's

	Failed  func(call string) // called after each call that failed, with its name; may be nil
	Changed func(up bool)     // called when the server goes away or comes back; must not block; may be nil
}

// Conn is the connection to the server. Its methods may be called from many goroutines; Run must run beside them. It is a
// live.Driver.
type Conn struct {
	Options
	client valkey.Client
	swap   *Script
	up     atomic.Bool
	busy   atomic.Int32
}

// ErrDown means that the last ping was not answered.
var ErrDown = errors.New("the shared cache does not answer")

// ErrBusy means that too many calls are under way.
var ErrBusy = errors.New("too many calls of the shared cache are under way")

// Open prepares a connection. It fails for a URL that CheckURL refuses, but not if the server is unreachable.
func Open(text string, o Options) (*Conn, error) {
	option, err := options(text)
	if err != nil {
		return nil, err
	}
	if option.TLSConfig != nil {
		option.TLSConfig.RootCAs = o.Roots
	}
	option.ClientName = "wayside"
	option.ForceSingleClient = true // one server, which then need not be reachable yet
	option.DisableCache = true      // reads must return the stored value
	option.DisableRetry = true
	option.AlwaysPipelining = true // otherwise a cancelled call would close its connection
	option.PipelineMultiplex = -1  // one connection, which is then never made while a caller waits
	option.RingScaleEachConn = ringScale
	option.ReadBufferEachConn, option.WriteBufferEachConn = 1<<16, 1<<16
	option.Dialer.Timeout = callTimeout
	option.Dialer.KeepAlive = time.Second // an idle connection is probed after this time …
	option.ConnWriteTimeout = time.Second // … and closed without an answer
	client, err := valkey.NewClient(option)
	if client == nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	c := &Conn{Options: o, client: client, swap: NewScript(swapScript)}
	c.up.Store(err == nil)
	if err != nil {
		o.Log.Warn("the shared cache does not answer; it is tried on", "error", err)
	} else {
		o.Log.Info("the shared cache answers")
	}
	return c, nil
}

// Run pings the server until ctx ends, then closes the connection.
func (c *Conn) Run(ctx context.Context) error {
	defer c.Close()
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		c.ping(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Close closes the connection, also one that never ran. It may be called again.
func (c *Conn) Close() { c.client.Close() }

// Up reports whether the server answered the last ping.
func (c *Conn) Up() bool { return c.up.Load() }

// ping checks whether the server answers.
func (c *Conn) ping(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := c.client.Do(asked, c.client.B().Ping().Build()).Error()
	if ctx.Err() != nil || c.up.Swap(err == nil) == (err == nil) {
		return
	}
	if err == nil {
		c.Log.Info("the shared cache is back")
	} else {
		c.Log.Warn("the shared cache does not answer; it is tried on", "error", err)
	}
	if c.Changed != nil {
		c.Changed(err == nil)
	}
}

// do makes one call of at most callTimeout.
func (c *Conn) do(ctx context.Context, name string, call func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("shared cache: %s: %w", name, err)
	}
	defer c.busy.Add(-1)
	var err error
	switch {
	case c.busy.Add(1) > maxCalls:
		err = ErrBusy
	case !c.up.Load():
		err = ErrDown
	default:
		within, cancel := context.WithTimeout(ctx, callTimeout)
		err = call(within)
		cancel()
	}
	if err == nil {
		return nil
	}
	if asked := ctx.Err(); asked != nil {
		return fmt.Errorf("shared cache: %s: %w", name, asked) // the caller's context ended: not a failure of the server
	}
	if c.Failed != nil {
		c.Failed(name)
	}
	return fmt.Errorf("%w: shared cache: %s: %w", mapdata.ErrUnavailable, name, err)
}
