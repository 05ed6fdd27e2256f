package main

import "math"

// assumptions are the inputs of the model. Those that are marked as measured were measured by make bench on 2 cores;
// the others are assumed.
type assumptions struct {
	// Drivers.
	drivers   float64 // users of the service
	onRoad    float64 // share of them on the road at the busiest minute
	streaming float64 // share of those on the road who hold a stream; the others poll
	pollEvery float64 // seconds between two polls of a driver without a stream
	alerts    float64 // requests for alerts per minute and driver on the road
	kmh       float64 // mean speed
	leaveKM   float64 // a stream is reopened once the driver is this far from its center
	events    float64 // events on a stream in a minute
	votes     float64 // votes of a driver on the road in an hour
	signedIn  float64 // share of drivers with an account; their sessions are noted once an hour

	// The map.
	entities   float64 // in the index; 0: by the rule of grown
	feeds      float64 // polled or pushed; 0: by the rule of grown
	feedEvery  float64 // seconds between two polls, or batches, of a feed
	changed    float64 // rows of a poll or a batch that differ from what is stored
	shown      float64 // entities in an answer
	entityText float64 // bytes of an entity in an answer
	packing    float64 // how many times smaller a compressed answer is; streams are not compressed
	unmodified float64 // share of polls answered 304: only those without live incidents can be
	upstreams  float64 // that cover a place
	askEvery   float64 // seconds between two calls of an upstream for one driver: at most one in 4 s (D8.3), and a stream looks every 5 s

	// A node.
	cores       float64 // of a node
	busy        float64 // share of its cores that a node may be busy
	readCost    float64 // µs of a core for a read without entities: see entityCost
	entityCost  float64 // µs more for each entity in the answer: measured, on 2 cores 30 500 reads a second of 20, 20 500 of 100
	callCost    float64 // what a call of an upstream costs, in reads
	openCost    float64 // what opening a stream costs, in reads: connection and TLS are the proxy's
	streamsMost float64 // streams that one node may hold
	streamBytes float64 // memory of a stream: measured, 10 000 are 313 MB
	indexBytes  float64 // memory of an entity: measured, a million are 536 MB
	baseBytes   float64 // memory of a node without either
	loads       float64 // entities a second that a node reads from the database before it is ready: measured, a million in 2.6 s
	takesOver   float64 // changed rows a second that a node takes over

	// What nodes share.
	commits     float64 // transactions a second, one after the other: each raises the one revision
	rows        float64 // rows a second that the database writes
	wire        float64 // bytes a second that a machine sends
	rowBytes    float64 // of a changed row, as nodes read it
	cacheOps    float64 // a second, of one cache
	opsByLook   float64 // operations of the cache for a look with live incidents
	upstreamHas float64 // calls a second that one upstream can handle
	proxyReqs   float64 // requests a second of one proxy, TLS included
	proxyConns  float64 // connections of one proxy

	// Roads.
	junctionsPerMB float64 // for each megabyte of an extract
}

// defaultAssumptions returns the assumptions of docs/scale.md.
func defaultAssumptions() assumptions {
	return assumptions{
		drivers: 1e6, onRoad: 0.08, streaming: 0.8, pollEvery: 8, alerts: 0.5, kmh: 50, leaveKM: 10.0 / 3, events: 20, votes: 0.2, signedIn: 0.3,
		feedEvery: 60, changed: 40, shown: 60, entityText: 450, packing: 6, unmodified: 0.1, upstreams: 1, askEvery: 5,
		cores: 8, busy: 0.5, readCost: 57.6, entityCost: 0.4, callCost: 5, openCost: 4, streamsMost: 20_000,
		streamBytes: 31_300, indexBytes: 536, baseBytes: 100e6, loads: 385_000, takesOver: 20_300,
		commits: 1000, rows: 56_500, wire: 1.25e9, rowBytes: 600, cacheOps: 150_000, opsByLook: 6, upstreamHas: 5000, proxyReqs: 50_000, proxyConns: 60_000,
		junctionsPerMB: 3000,
	}
}

// scaled returns the given number, or without one a number for a million drivers, scaled to the assumed number of drivers. The map
// grows more slowly than the drivers: a hundred times the drivers see ten times the map.
func (a assumptions) scaled(given, million float64) float64 {
	if given > 0 {
		return given
	}
	return million * math.Sqrt(a.drivers/1e6)
}

// results are the outputs of the model, per second unless the unit is given.
type results struct {
	onRoad, streams, pollers          float64 // drivers
	entities, feeds                   float64
	polls, alerts, opens, looks       float64
	requests                          float64 // through the proxies
	calls                             float64 // of each upstream
	nodes, nodesByCPU, nodesByStreams float64
	nodeMemory                        float64 // bytes
	ready                             float64 // seconds from a node's start until it is ready
	changes                           float64 // rows
	transactions, votes, sessions     float64
	followed                          float64 // bytes that the nodes read from the database
	cacheOps                          float64
	out                               float64 // bytes to drivers
}

// calculate computes the model.
func calculate(a assumptions) results {
	var s results
	s.onRoad = a.drivers * a.onRoad
	s.streams = s.onRoad * a.streaming
	s.pollers = s.onRoad - s.streams
	s.entities, s.feeds = a.scaled(a.entities, 2e6), a.scaled(a.feeds, 2000)

	s.polls = s.pollers / a.pollEvery
	s.alerts = s.onRoad * a.alerts / 60
	s.opens = s.streams * a.kmh / 3600 / a.leaveKM
	s.votes = s.onRoad * a.votes / 3600
	s.sessions = s.onRoad * a.signedIn / 3600
	s.requests = s.polls + s.alerts + s.opens + s.votes
	// A stream updates every five seconds, and on changes: several changes at one time are one update.
	s.looks = s.streams * (1/5.0 + a.events/60/2)
	s.calls = s.streams/math.Max(a.askEvery, 4) + s.pollers/math.Max(a.pollEvery, 4)

	work := s.polls + s.alerts + s.looks + s.opens*a.openCost + s.calls*a.upstreams*a.callCost
	s.nodesByCPU = work * (a.readCost + a.entityCost*a.shown) / 1e6 / (a.cores * a.busy)
	s.nodesByStreams = s.streams / a.streamsMost
	// One more than needed, because one may fail, and at least three.
	s.nodes = math.Max(3, math.Ceil(math.Max(s.nodesByCPU, s.nodesByStreams))+1)
	s.nodeMemory = a.baseBytes + s.entities*a.indexBytes + s.streams/(s.nodes-1)*a.streamBytes

	s.ready = s.entities / a.loads

	s.changes = s.feeds / a.feedEvery * a.changed
	s.transactions = s.feeds/a.feedEvery + s.votes
	s.followed = s.nodes * (s.changes + s.votes) * a.rowBytes
	s.cacheOps = (s.calls+s.polls+s.alerts)*a.opsByLook + s.requests
	s.out = s.polls*(1-a.unmodified)*a.shown*a.entityText/a.packing + s.alerts*2000 +
		s.opens*a.shown*a.entityText + s.streams*a.events/60*(a.entityText+100)
	return s
}

// singleResource is a resource of which there is one, however many nodes there are.
type singleResource struct {
	what     string
	load     float64
	capacity float64 // load that one of it can handle
	unit     string
}

// utilization returns the load as a multiple of the capacity.
func (l singleResource) utilization() float64 { return l.load / l.capacity }

// singleResources returns the resources that more nodes do not relieve.
func singleResources(a assumptions, s results) []singleResource {
	return []singleResource{
		{"calls of one upstream", s.calls, a.upstreamHas, "/s"},
		{"operations of the cache", s.cacheOps, a.cacheOps, "/s"},
		{"connections of a proxy", s.onRoad, a.proxyConns, ""},
		{"requests of a proxy", s.requests, a.proxyReqs, "/s"},
		{"transactions that raise the revision", s.transactions, a.commits, "/s"},
		{"rows that the database writes", s.changes + s.votes + s.sessions, a.rows, "/s"},
		{"bytes that the database sends to nodes", s.followed, a.wire, "B/s"},
		{"changed rows that each node takes over", s.changes + s.votes, a.takesOver, "/s"},
	}
}
