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

	"wayside/internal/mapdata"
)

// How long the server is waited for, and how often it is asked whether it is there: one that hangs is found out within
// lookEvery and patience, and back within the same.
const (
	patience  = 500 * time.Millisecond // for one call
	lookEvery = 250 * time.Millisecond
	// atOnce is how many calls may be under way: those beyond it fail, since nothing answers so many in time. The library's
	// queue holds twice as many, because beyond that it would wait whatever the context says.
	atOnce = 2048
	queue  = 12 // as a power of two
)

// prefix begins every key and channel, so that the server may serve others too.
const prefix = "wayside:"

// Options is what a Conn may be told beside its URL.
type Options struct {
	Log   *slog.Logger
	Roots *x509.CertPool // for TLS; nil: the system's

	Failed  func(call string) // told of each call that failed, by its name; nil: nobody counts
	Changed func(up bool)     // told when the server comes and goes; must not wait; nil: nobody listens
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

// ErrDown says that the server did not answer when it was last asked.
var ErrDown = errors.New("the shared cache does not answer")

// ErrBusy says that too many calls are under way.
var ErrBusy = errors.New("too many calls of the shared cache are under way")

// Open prepares a connection. It fails for a URL that CheckURL refuses, and not when the server is away.
func Open(text string, o Options) (*Conn, error) {
	option, err := options(text)
	if err != nil {
		return nil, err
	}
	if option.TLSConfig != nil {
		option.TLSConfig.RootCAs = o.Roots
	}
	option.ClientName = "wayside"
	option.ForceSingleClient = true // one server, which then need not be there yet
	option.DisableCache = true      // what is read must be what is stored
	option.DisableRetry = true
	option.AlwaysPipelining = true // or a call that is given up would close its connection
	option.PipelineMultiplex = -1  // one connection, which is then never made while a caller waits
	option.RingScaleEachConn = queue
	option.ReadBufferEachConn, option.WriteBufferEachConn = 1<<16, 1<<16
	option.Dialer.Timeout = patience
	option.Dialer.KeepAlive = time.Second // after so long without a word, a connection is asked for one …
	option.ConnWriteTimeout = time.Second // … and closed when none comes
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

// Run looks whether the server is there until ctx ends, and closes the connection then.
func (c *Conn) Run(ctx context.Context) error {
	defer c.Close()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		c.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Close ends the connection, also one that never ran. It may be called again.
func (c *Conn) Close() { c.client.Close() }

// Up says whether the server answered when it was last asked.
func (c *Conn) Up() bool { return c.up.Load() }

// look asks the server for a word.
func (c *Conn) look(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, patience)
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

// do makes one call, in which it waits for the server for so long at most as its patience is.
func (c *Conn) do(ctx context.Context, name string, call func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("shared cache: %s: %w", name, err)
	}
	defer c.busy.Add(-1)
	var err error
	switch {
	case c.busy.Add(1) > atOnce:
		err = ErrBusy
	case !c.up.Load():
		err = ErrDown
	default:
		within, cancel := context.WithTimeout(ctx, patience)
		err = call(within)
		cancel()
	}
	if err == nil {
		return nil
	}
	if asked := ctx.Err(); asked != nil {
		return fmt.Errorf("shared cache: %s: %w", name, asked) // the caller's own end, which is nobody's failure
	}
	if c.Failed != nil {
		c.Failed(name)
	}
	return fmt.Errorf("%w: shared cache: %s: %w", mapdata.ErrUnavailable, name, err)
}
