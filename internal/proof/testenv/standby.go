package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
)

// standbyName is the application_name under which a standby connects to its primary.
const standbyName = "standby"

// Standby starts a standby of this server (streaming replication), which only answers reads until Promote. From then on
// replication is synchronous: a commit waits until the standby has it on disk. The standby has this server's options, and
// lives as long as the test.
func (p *PG) Standby(t testing.TB) *PG {
	t.Helper()
	s, err := p.startStandby()
	if err != nil {
		t.Fatalf("start a standby: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (p *PG) startStandby() (_ *PG, err error) {
	s := &PG{program: p.program, as: p.as, password: p.password, unsynced: p.unsynced, settings: p.settings}
	if s.folder, err = newFolder(s.as); err != nil {
		return nil, err
	}
	from := p.address("", url.Values{"application_name": {standbyName}})
	// -R writes standby.signal and the primary's address.
	backup := exec.CommandContext(context.Background(), filepath.Join(s.program.bin, "pg_basebackup"),
		"-d", from.String(), "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err := runAs(backup, s.as, s.folder.path, ""); err != nil {
		return nil, errors.Join(err, s.folder.remove())
	}
	err = onFreePort(func(port int) error {
		s.port = port
		return s.Start()
	})
	if err != nil {
		return nil, errors.Join(err, s.folder.remove())
	}
	// Set only now, since commits would wait until the standby runs, and not on the standby, which has no standby itself.
	ctx := context.Background()
	err = errors.Join(
		p.exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '"+standbyName+"'"),
		p.exec(ctx, "SELECT pg_reload_conf()"),
		waitUntil(func() bool { return p.exec(ctx, isSynchronous) == nil }),
	)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// isSynchronous fails, by a division by zero, until replication is synchronous.
const isSynchronous = `SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`

// Promote makes a standby a primary, which accepts writes when Promote returns.
func (p *PG) Promote() error { return p.exec(context.Background(), "SELECT pg_promote()") }

// URLs returns one URL that names this server and others, and asks for the one that accepts writes.
func (p *PG) URLs(others ...*PG) string {
	u := p.address(mainDatabase, url.Values{"target_session_attrs": {"read-write"}})
	for _, o := range others {
		u.Host += fmt.Sprintf(",127.0.0.1:%d", o.port)
	}
	return u.String()
}
