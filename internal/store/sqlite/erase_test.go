package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestErasedRowsLeaveTheFile creates and deletes accounts with feeds in random order, and checks that the texts of deleted ones are not in
// the database file, its write-ahead log or a backup (D11.11).
func TestErasedRowsLeaveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := openAt(t, path, Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	type person struct {
		id   mapdata.AccountID
		mark string
	}
	var kept []person
	var erased []string
	for i := range 600 {
		if len(kept) > 0 && rng.IntN(5) < 2 {
			at := rng.IntN(len(kept))
			one := kept[at]
			kept = append(kept[:at], kept[at+1:]...)
			if err := db.DeleteAccount(t.Context(), one.id, mapdata.AuditEntry{At: start, Owner: one.id, Action: mapdata.AuditAccountDelete}); err != nil {
				t.Fatal(err)
			}
			erased = append(erased, one.mark)
			continue
		}
		one := person{mark: fmt.Sprintf("mark-%04d-", i)}
		one.id = createMarked(t, db, one.mark, rng)
		kept = append(kept, one)
	}
	if err := db.removeTraces(t.Context(), db.writer); err != nil || db.erased.Load() {
		t.Fatalf("traces were not removed: %v", err)
	}
	wantSound(t, db)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), copied, nil); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal", copied} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, mark := range erased {
			if bytes.Contains(content, []byte(mark)) {
				found++
			}
		}
		if found > 0 {
			t.Errorf("%s holds %d of %d erased marks", filepath.Base(file), found, len(erased))
		}
	}
	if content, err := os.ReadFile(copied); err != nil || !bytes.Contains(content, []byte(kept[0].mark)) {
		t.Errorf("the backup lacks a kept account: %v", err)
	}
}

// createMarked creates an account with a feed whose texts all contain the mark, of random lengths.
func createMarked(t *testing.T, db *DB, mark string, rng *rand.Rand) mapdata.AccountID {
	t.Helper()
	text := func(limit int) string { return mark + strings.Repeat("x", rng.IntN(limit)) }
	id, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	feed, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.CreateAccount(t.Context(), &mapdata.Account{ID: id, Email: text(200), CreatedAt: start}); err != nil {
		t.Fatal(err)
	}
	f := &mapdata.Feed{
		ID: feed, Owner: id, Name: text(60), Description: text(4000), Layer: mapdata.Layer{Slug: text(60), Name: text(60)}, Active: true,
		Direction: mapdata.Pull, PullURL: "https://feeds.example.org/?key=" + text(1500), CreatedAt: start, UpdatedAt: start,
	}
	if err := db.CreateFeed(t.Context(), f, 1); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestErasureEmptiesTheLog checks that checkpoints empty the log soon after an erasure, in the process that serves the file or in a command
// that closes it.
func TestErasureEmptiesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := openAt(t, path, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var job sync.WaitGroup
	job.Go(func() {
		if err := db.RunCheckpoints(ctx); err != nil {
			t.Error(err)
		}
	})
	defer job.Wait()
	defer cancel()
	rng := rand.New(rand.NewPCG(1, 2))
	logSize := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	erase := func(db *DB, id mapdata.AccountID) {
		t.Helper()
		if err := db.DeleteAccount(t.Context(), id, mapdata.AuditEntry{At: start, Action: mapdata.AuditAccountDelete}); err != nil {
			t.Fatal(err)
		}
	}
	erase(db, createMarked(t, db, "a", rng))
	if logSize() == 0 {
		t.Fatal("the log is empty before the checkpoint")
	}
	for deadline := time.After(time.Minute); logSize() > 0; {
		select {
		case <-deadline:
			t.Fatal("the log was not emptied within a minute")
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	job.Wait()

	command := openAt(t, path, Options{})
	erase(command, createMarked(t, command, "b", rng))
	if err := command.Close(); err != nil {
		t.Fatal(err)
	}
	if size := logSize(); size != 0 {
		t.Errorf("%d bytes are in the log after a command that erased", size)
	}
}
