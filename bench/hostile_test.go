package main

import (
	"testing"

	"wayside/internal/proof/testenv"
)

// TestHostileRequests replays 20 000 hostile requests against the real program, and checks that no answer is the service's fault,
// that its log contains no error, and that it survives. make bench BENCH=hostile sends ten million.
func TestHostileRequests(t *testing.T) {
	b := &bench{options: options{dir: t.TempDir(), count: 20_000, seed: 1}, table: &table{}, binary: testenv.Program(t)}
	defer func() { // not as a cleanup, because the test's context ends before cleanups and kills the program
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	}()
	err := b.runHostile(t.Context())
	for _, r := range b.table.rows {
		t.Log(r.what, r.goal, r.got, r.verdict)
	}
	if err != nil {
		t.Error(err)
	}
}
