package sqlite

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

const childRows = 200

// TestWriterProcess is not a test but the child process of TestKill: it pushes until it is killed, and prints the number
// of each batch once it is stored.
func TestWriterProcess(t *testing.T) {
	if flag.NArg() != 2 {
		t.Skip("runs as the child process of TestKill")
	}
	path := flag.Arg(0)
	feed, ok := mapdata.ParseFeedID(flag.Arg(1))
	if !ok {
		t.Fatal("no feed")
	}
	db := openAt(t, path, Options{})
	for n := 0; ; n++ {
		mustPush(t, db, feed, start, fmt.Sprintf("%d-%d", os.Getpid(), n), childRows)
		if _, err := fmt.Printf("stored %d\n", n); err != nil {
			return
		}
	}
}

// TestKill kills a writing process while this one follows, and checks that every batch that it reported as stored is
// there afterwards, and that no batch is stored in part.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := openAt(t, path, Options{})
	feed := feedOf(t, db)
	followed := int64(1)
	for round := range 3 {
		stored, pid := writeAndDie(t, path, feed, 5*(round+1))
		// This process keeps the database open, so that no reopening repairs anything.
		for {
			changes, err := db.Changes(t.Context(), followed, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(changes) == 0 {
				break
			}
			if c := changes[0]; c.Revision != followed+1 || len(c.Entities) != childRows {
				t.Fatalf("revision %d with %d entities comes after %d, want the next with %d", c.Revision, len(c.Entities), followed, childRows)
			}
			followed++
		}
		batches := number(t, db, "SELECT COUNT(*) FROM entities WHERE external_id LIKE ?", fmt.Sprint(pid)+"-%") / childRows
		if batches < stored {
			t.Errorf("round %d: %d batches are there, %d were reported as stored", round, batches, stored)
		}
		mustPush(t, db, feed, start, fmt.Sprint("afterwards ", round), childRows)
	}
	wantSound(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	wantSound(t, openAt(t, path, Options{}))
}

// writeAndDie starts a child process, waits until it has stored at least atLeast batches, and kills it.
func writeAndDie(t *testing.T, path string, feed mapdata.FeedID, atLeast int) (stored, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context()) // kills like kill -9
	defer kill()
	child := exec.CommandContext(ctx, self, "-test.run", "^TestWriterProcess$", path, feed.String())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, number, _ := strings.Cut(lines.Text(), " ")
		if n, err := strconv.Atoi(number); word == "stored" && err == nil {
			stored = n + 1
		} else {
			t.Log(lines.Text())
		}
		if stored == atLeast {
			kill()
		}
	}
	if err := child.Wait(); err == nil || stored < atLeast {
		t.Fatalf("the child process ended early, %v, after %d batches", err, stored)
	}
	return stored, child.Process.Pid
}
