package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PG is a PostgreSQL server with PostGIS. Its methods may be called from many goroutines.
type PG struct {
	server
	program  program
	as       *syscall.Credential
	password string
	unsynced bool
	settings []string

	idleMu sync.Mutex
	idle   []*pgx.Conn // to the maintenance database: to connect would take as long as to copy a database
}

// Option changes a server's default settings. With the defaults, the server is durable.
type Option func(*PG)

// Unsynced makes writes fast and lets a failure of the machine lose them (fsync=off). It is for tests of behaviour, never
// for tests of durability or measurements.
func Unsynced() Option {
	return func(p *PG) {
		p.unsynced = true
		p.settings = append(p.settings, "fsync=off", "full_page_writes=off")
	}
}

// Setting sets one of the server's own settings, such as max_connections.
func Setting(name, value string) Option {
	return func(p *PG) { p.settings = append(p.settings, name+"="+value) }
}

// Postgres starts a server that lives as long as the test. One is enough for all subtests, because each calls Database. If
// PostgreSQL is missing it skips the test, or in CI fails it.
func Postgres(t testing.TB, options ...Option) *PG {
	t.Helper()
	skipShort(t)
	p, err := StartPostgres(options...)
	missing(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// StartPostgres starts a server that lives until Close, or until this process ends. It returns ErrMissing if PostgreSQL is not
// installed.
func StartPostgres(options ...Option) (_ *PG, err error) {
	p := &PG{settings: []string{"max_connections=300", "unix_socket_directories=", "listen_addresses=127.0.0.1", "timezone=UTC"}}
	for _, set := range options {
		set(p)
	}
	if p.program, err = findPostgres(); err != nil {
		return nil, err
	}
	if p.as, err = unprivileged(); err != nil {
		return nil, err
	}
	fresh, err := readySeed(p.program, p.as)
	if err != nil {
		return nil, err
	}
	if p.folder, err = newFolder(p.as); err != nil {
		return nil, err
	}
	p.password = fresh.password
	if out, err := exec.CommandContext(context.Background(), "cp", "-a", fresh.data, p.data()).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the fresh cluster: %w: %s", err, out), p.folder.remove())
	}
	err = onFreePort(func(port int) error {
		p.port = port
		return p.Start()
	})
	if err != nil {
		return nil, errors.Join(err, p.folder.remove())
	}
	return p, nil
}

func (p *PG) data() string { return filepath.Join(p.folder.path, "data") }

// URL returns the URL of the server's main database, which has PostGIS and is empty at first. It contains the password of a
// superuser.
func (p *PG) URL() string { return p.url(mainDatabase) }

func (p *PG) url(database string) string { return p.address(database, nil).String() }

// address returns the URL of a database, with additional connection parameters. An empty name selects no database.
func (p *PG) address(database string, more url.Values) *url.URL {
	query := url.Values{"sslmode": {"disable"}}
	maps.Copy(query, more)
	return &url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, p.password), Host: "127.0.0.1:" + strconv.Itoa(p.port),
		Path: database, RawQuery: query.Encode(),
	}
}

// Database creates an empty database with PostGIS and returns its URL. The database is dropped after the test, even if there are
// open connections to it.
func (p *PG) Database(t testing.TB) string {
	t.Helper()
	return p.copyOf(t, "template1")
}

// copyOf makes a database as a copy of another one without connections, and drops it after the test.
func (p *PG) copyOf(t testing.TB, template string) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	// The strategy FILE_COPY needs two checkpoints, which are cheap with fsync=off.
	strategy := "WAL_LOG"
	if p.unsynced {
		strategy = "FILE_COPY"
	}
	if err := p.exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY "+strategy); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		if !p.running() {
			return // it is deleted with the server
		}
		err := p.exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		switch {
		case errors.Is(err, context.DeadlineExceeded): // on a machine under load, which says nothing about the test
			t.Logf("a database is left to go with its server: %v", err)
		case err != nil:
			t.Errorf("drop a database: %v", err)
		}
	})
	return p.url(name)
}

// answers checks that this server answers, and not another one that took over the port. All of them have the same password, so that
// signing in does not tell them apart.
func (p *PG) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return err
	}
	var data string
	err = conn.QueryRow(ctx, "SHOW data_directory").Scan(&data)
	if err == nil && data != p.data() {
		err = errors.New("another server has the port")
	}
	return errors.Join(err, conn.Close(ctx))
}

// exec runs a statement from the maintenance database, to which no test is connected.
func (p *PG) exec(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	conn, err := p.maintain(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	p.idleMu.Lock()
	defer p.idleMu.Unlock()
	p.idle = append(p.idle, conn)
	return nil
}

// maintain returns a connection to the maintenance database that nobody else uses. One of before a restart is not used again.
func (p *PG) maintain(ctx context.Context) (*pgx.Conn, error) {
	for {
		conn := p.takeIdle()
		if conn == nil {
			return pgx.Connect(ctx, p.url("postgres"))
		}
		if conn.Ping(ctx) == nil {
			return conn, nil
		}
		_ = conn.Close(ctx) // it does not work anyway
	}
}

// takeIdle returns the newest idle connection, or nil.
func (p *PG) takeIdle() *pgx.Conn {
	p.idleMu.Lock()
	defer p.idleMu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	last := len(p.idle) - 1
	conn := p.idle[last]
	p.idle = p.idle[:last]
	return conn
}

// Start starts the server that was stopped or killed, on the same port with the same data, and waits until it answers.
func (p *PG) Start() error {
	args := []string{"-D", p.data(), "-p", strconv.Itoa(p.port)}
	for _, s := range p.settings {
		args = append(args, "-c", s)
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.program.bin, "postgres"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	// This signal makes it stop immediately, with all its children.
	return p.start("PostgreSQL", cmd, syscall.SIGQUIT, p.answers)
}

// Stop ends all connections and the server. An immediate stop skips the checkpoint, so that the next start runs crash
// recovery.
func (p *PG) Stop(immediate bool) error {
	if immediate {
		return p.end(syscall.SIGQUIT)
	}
	return p.end(syscall.SIGINT)
}

// Restart stops the server with a checkpoint and starts it again.
func (p *PG) Restart() error { return errors.Join(p.Stop(false), p.Start()) }

// Kill ends the server and all its children with SIGKILL.
func (p *PG) Kill() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.process.alive() {
		return nil
	}
	return p.process.kill()
}

// Close stops the server and removes its folder.
func (p *PG) Close() error {
	err := p.Resume()
	for conn := p.takeIdle(); conn != nil; conn = p.takeIdle() {
		_ = conn.Close(context.Background()) // it may be of before a restart
	}
	return errors.Join(err, p.Stop(true), p.folder.remove())
}
