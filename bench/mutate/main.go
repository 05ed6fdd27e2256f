// Command mutate changes the code of a package in one place at a time (a constant, a comparison, a condition, a statement) and runs
// tests against each change. A change that no test notices is a survivor: it names a line whose behaviour no test checks. The
// working tree is never touched: changes reach the compiler by an overlay. Run it with make mutate.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// errSurvivors means that no test noticed some change.
var errSurvivors = errors.New("some changes survive")

type options struct {
	pkg      string
	tests    []string // packages whose tests run after the package's own
	most     int
	seed     uint64
	timeout  time.Duration
	parallel int
}

func main() {
	var o options
	flag.StringVar(&o.pkg, "pkg", "", "the package to change, such as ./internal/entities/nearby")
	tests := flag.String("tests", "", "more packages whose tests may notice a change, separated by spaces")
	flag.IntVar(&o.most, "max", 0, "try only so many changes, chosen at random; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses which changes -max tries")
	flag.DurationVar(&o.timeout, "timeout", 0, "ends tests of a change; 0: three times what they take without one, and 20 s more")
	flag.IntVar(&o.parallel, "parallel", 2, "changes tried at the same time")
	flag.Parse()
	o.tests = strings.Fields(*tests)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, &o); {
	case errors.Is(err, errSurvivors):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, o *options) (err error) {
	files, err := listFiles(ctx, o.pkg)
	if err != nil {
		return err
	}
	var all []mutation
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		found, err := mutations(name, text)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	total := len(all)
	all = choose(all, o.most, o.seed)
	fmt.Printf("%s: %d possible changes, %d of them tried\n", o.pkg, total, len(all))
	dir, err := os.MkdirTemp("", "wayside-mutate-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := &tester{options: o, dir: dir}
	if err := t.baseline(ctx); err != nil {
		return err
	}
	return report(t.all(ctx, all))
}

// choose returns most of the changes at random, in their order; if most is 0, all of them.
func choose(all []mutation, most int, seed uint64) []mutation {
	if most == 0 || most >= len(all) {
		return all
	}
	keep := make(map[int]bool, most)
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:most] { //nolint:gosec // a sample need not be secret
		keep[i] = true
	}
	chosen := make([]mutation, 0, most)
	for i := range all {
		if keep[i] {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// report prints the verdicts.
func report(verdicts []verdict) error {
	counts := make(map[verdict]int)
	for _, v := range verdicts {
		counts[v]++
	}
	fmt.Printf("%d noticed, %d SURVIVED, %d did not compile, %d not tried\n",
		counts[noticed], counts[survived], counts[broken], counts[untried])
	if counts[survived] > 0 {
		return errSurvivors
	}
	return nil
}
