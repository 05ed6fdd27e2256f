package datadir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wayside/internal/run/datadir"
)

// TestRunningAddress checks the address that a service leaves: it is read while the service holds the lock, and ignored when the
// service was killed, has stopped, or left a damaged file.
func TestRunningAddress(t *testing.T) {
	dir := t.TempDir()
	want := datadir.Address{BaseURL: "https://map.example.org", Local: "http://127.0.0.1:8091"}
	expect := func(when string, running bool) {
		t.Helper()
		got, ok, err := datadir.RunningAddress(dir)
		if err != nil || ok != running || running && got != want {
			t.Errorf("%s: %+v, %v, %v", when, got, ok, err)
		}
	}
	expect("before the first start", false)
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("looking made %v, %v", files, err)
	}
	release, err := datadir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := datadir.WriteAddress(dir, want); err != nil {
		t.Fatal(err)
	}
	expect("while the service runs", true)
	if err := release(); err != nil { // as after kill -9: the file stays
		t.Fatal(err)
	}
	expect("after a kill", false)
	if release, err = datadir.Lock(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.AddressFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("with a damaged file", false)
	if err := errors.Join(datadir.RemoveAddress(dir), datadir.RemoveAddress(dir), release()); err != nil {
		t.Fatal(err)
	}
	expect("after a stop", false)
}

// TestRequire checks the error about a folder without data, and that no file is made.
func TestRequire(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none")
	var noData *datadir.NoDataError
	if err := datadir.Require(missing, ""); !errors.As(err, &noData) || !strings.Contains(err.Error(), "no data in "+missing) {
		t.Errorf("no directory: %v", err)
	}
	if err := datadir.Require(dir, datadir.DatabaseFile); !errors.As(err, &noData) || !strings.Contains(err.Error(), "there is no wayside.db in it") {
		t.Errorf("an empty directory: %v", err)
	}
	if err := datadir.Require(dir, ""); err != nil {
		t.Errorf("a directory that only has to exist: %v", err)
	}
	if err := os.WriteFile(missing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := datadir.Require(missing, ""); err == nil || errors.As(err, &noData) {
		t.Errorf("a file: %v", err)
	}
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, datadir.DatabaseFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := datadir.Require(dir, datadir.DatabaseFile); err != nil {
		t.Errorf("with data: %v", err)
	}
}
