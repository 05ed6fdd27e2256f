package testenv

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// CacheServer is a Valkey or Redis server that keeps nothing on disk. Its methods may be called from many goroutines.
type CacheServer struct {
	server
	program  string
	password string
}

// Cache starts a server that lives as long as the test. If none is installed it skips the test, or in CI fails it.
func Cache(t testing.TB) *CacheServer {
	t.Helper()
	skipShort(t)
	c, err := StartCache()
	missing(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// StartCache starts a server that lives until Close, or until this process ends. It returns ErrMissing if none is installed.
func StartCache() (_ *CacheServer, err error) {
	c := &CacheServer{password: rand.Text()}
	if c.program, err = findCache(); err != nil {
		return nil, err
	}
	if c.folder, err = newFolder(nil); err != nil {
		return nil, err
	}
	err = onFreePort(func(port int) error {
		c.port = port
		return c.Start()
	})
	if err != nil {
		return nil, errors.Join(err, c.folder.remove())
	}
	return c, nil
}

// URL returns the server's address, including its password.
func (c *CacheServer) URL() string {
	u := url.URL{Scheme: "valkey", User: url.UserPassword("", c.password), Host: c.address()}
	return u.String()
}

func (c *CacheServer) address() string { return "127.0.0.1:" + strconv.Itoa(c.port) }

// Start starts the server that was stopped, on the same port and empty, and waits until it answers.
func (c *CacheServer) Start() error {
	cmd := exec.CommandContext(context.Background(), c.program, "-")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(
		"bind 127.0.0.1\nport %d\nrequirepass %s\nsave \"\"\nappendonly no\ndaemonize no\n", c.port, c.password,
	))
	return c.start("the cache", cmd, syscall.SIGKILL, func() error { return c.command("PING") })
}

// Stop kills the server; its contents are lost.
func (c *CacheServer) Stop() error { return c.end(syscall.SIGKILL) }

// Empty deletes all keys.
func (c *CacheServer) Empty() error { return c.command("FLUSHALL") }

// Close stops the server and removes its folder.
func (c *CacheServer) Close() error { return errors.Join(c.Stop(), c.folder.remove()) }

// command sends one command on a new connection and expects a simple string as the reply.
func (c *CacheServer) command(name string) (err error) {
	conn, err := (&net.Dialer{Timeout: serverTimeout}).DialContext(context.Background(), "tcp", c.address())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(serverTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\n%s\r\n", c.password, name); err != nil {
		return err
	}
	answers := bufio.NewReader(conn)
	for range 2 {
		line, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(line, "+") {
			return fmt.Errorf("%s: %s", name, strings.TrimSpace(line))
		}
	}
	return nil
}
