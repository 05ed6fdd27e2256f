package service

import (
	"wayside/internal/budget"
	"wayside/internal/httpapi"
	"wayside/internal/provider/push"
)

// What requests may hold in memory together (docs/decisions/0029-request-budget.md). Each kind has its part, so that a flood of one
// leaves the others room. With the headroom of the heap, and what some thousand connections take, strangers cost at most 300 MiB.
const (
	pushMemory  = 56 << 20 // bytes: bodies of pushes, and what becomes of them
	checkMemory = 24 << 20 // texts that are tried before a feed is registered: one of 4 MiB
	routeMemory = 40 << 20 // answers of navigation
	readMemory  = 24 << 20 // answers with entities
	allMemory   = pushMemory + checkMemory + routeMemory + readMemory
)

// requestMemory is what requests share.
type requestMemory struct {
	all                           *budget.Budget
	pushes, checks, routes, reads *budget.Part
}

// newRequestMemory makes the budget. One caller may hold a quarter of the answers, and has one text tried at a time.
func newRequestMemory() requestMemory {
	all := budget.New(allMemory)
	return requestMemory{
		all: all, pushes: push.Memory(all, pushMemory), checks: all.Part(checkMemory, checkMemory), routes: all.Part(routeMemory, routeMemory/4), reads: all.Part(readMemory, readMemory/4),
	}
}

func (m *requestMemory) ofAPI() httpapi.Memory {
	return httpapi.Memory{Reads: m.reads, Routes: m.routes}
}
