//go:build !unix

package sched

import "runtime"

// yielder yields in the scheduler's way alone.
type yielder struct{}

func newYielder() *yielder { return new(yielder) }

func (*yielder) yield() { runtime.Gosched() }
