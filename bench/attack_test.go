package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// TestMain lets the test's executable run as the flood and the reader, as that of bench does.
func TestMain(m *testing.M) {
	role := flag.String("role", "", "be the flood or the reader of the attack")
	flag.Parse()
	if *role == "" {
		os.Exit(m.Run())
	}
	if err := runRole(context.Background(), *role, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestAttack attacks the real program through all doors for 20 seconds, in a generated town. Its bounds are twice as wide as those
// of make bench BENCH=attack, and none of them is a time, because the machine may be busy.
func TestAttack(t *testing.T) {
	if os.Getenv("ATTACK") == "" {
		t.Skip("runs by itself: make attack; beside other tests it would take the processors that those measure")
	}
	program := testenv.Program(t)
	const (
		mostMemory = 600.0 // MiB above rest
		restMemory = 96.0
		mostLate   = 0.05 // of the quiet reader's reads, without an answer in 20 s
		restWithin = 2 * time.Minute
	)
	b := &bench{options: options{dir: t.TempDir()}, table: &table{}, binary: program}
	var err error
	if b.provider, err = newProvider(filepath.Join(b.dir, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	defer b.provider.close()
	defer func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	}()
	a := &attack{bench: b, settle: 5 * time.Second, warm: 10 * time.Second, share: 4, entered: b.chosenDoors()}
	if err := a.prepareAttack(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer a.endReader()
	if err := a.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := a.phase(t.Context(), "all at once", a.entered, 3, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a.report(r)
	t.Log(a.table.rows)
	if more := a.above(r.most.peak); more > mostMemory {
		t.Errorf("the attack took %.0f MiB, want %.0f at most", more, mostMemory)
	}
	if late := float64(r.reads.failed) / float64(len(r.reads.took)+1); late > mostLate {
		t.Errorf("%.0f %% of a quiet reader's %d reads were not answered", late*100, len(r.reads.took))
	}
	for _, status := range []string{"500 ×", "502 ×", "504 ×"} {
		if strings.Contains(r.answers, status) {
			t.Errorf("the service failed: %s", r.answers)
		}
	}
	for began := time.Now(); ; pause(t.Context(), watchInterval) {
		u, err := a.use()
		if err != nil {
			t.Fatal(err)
		}
		if a.above(u.memory) <= restMemory && u.descriptors <= a.rest.descriptors+2*restDescriptors && u.goroutines <= a.rest.goroutines+2*restGoroutines {
			break
		}
		if time.Since(began) > restWithin {
			t.Fatalf("after %v: %.0f MiB above rest, %d descriptors instead of %d, %d goroutines instead of %d", restWithin,
				a.above(u.memory), u.descriptors, a.rest.descriptors, u.goroutines, a.rest.goroutines)
		}
	}
}
