package service

import (
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/budget"
	"wayside/internal/http/httpapi"
)

// The memory that all requests together may hold (docs/decisions/0029-request-budget.md). Each kind of request has its part, so
// that a flood of one kind leaves the others room. With the headroom of the heap, and the memory of some thousand connections,
// strangers cost at most 300 MiB.
const (
	pushMemory  = 56 << 20 // bytes: bodies of pushes, and the rows decoded from them
	checkMemory = 24 << 20 // texts of feeds that are tried before they are registered: one of 4 MiB
	routeMemory = 40 << 20 // answers of navigation
	readMemory  = 24 << 20 // answers with entities
	allMemory   = pushMemory + checkMemory + routeMemory + readMemory
)

// requestMemory is the budget that requests share, and its parts.
type requestMemory struct {
	all                           *budget.Budget
	pushes, checks, routes, reads *budget.Part
}

// newRequestMemory makes the budget. One caller may hold a quarter of the memory for answers, and may have one text tried at a
// time.
func newRequestMemory() requestMemory {
	all := budget.New(allMemory)
	return requestMemory{
		all: all, pushes: push.Memory(all, pushMemory), checks: all.Part(checkMemory, checkMemory), routes: all.Part(routeMemory, routeMemory/4), reads: all.Part(readMemory, readMemory/4),
	}
}

func (m *requestMemory) ofAPI() httpapi.Memory {
	return httpapi.Memory{Reads: m.reads, Routes: m.routes}
}
