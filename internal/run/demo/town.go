package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// row is a v1 row of a provider.
type row struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
	TTLSeconds int            `json:"ttl_seconds,omitempty"`
	ObservedAt string         `json:"observed_at,omitempty"`
}

// Town simulates entities beside the streets and events on them. It must be used by one goroutine, except for Guide.
type Town struct {
	rng    *rand.Rand
	plan   *plan
	fixed  []row
	events []event
	number int

	began      time.Time // the first step
	shipPasses bool      // the harbour's bridge is closed

	bridgeClosed  bool       // the visitor's bridge is closed for a guided drive
	mu            sync.Mutex // guards the following fields
	closes, opens time.Time  // when the bridge closes and opens for the latest guided drive
}

// event is a temporary event on a road. It moves along its street or stands still.
type event struct {
	row
	seenBy witness
	road   *road
	along  float64 // metres from the road's start
	speed  float64 // metres per second; 0: it stands still
	until  time.Time
}

// standing lists the permanent entities, each at a distance along the drive, or anywhere.
var standing = [...]struct {
	kind    string
	onDrive float64 // 0: anywhere
}{
	{"camera.speed", 700},
	{"camera.red_light", 1240},
	{"alert.construction", 1750},
	{"camera.avg_speed", 2900},
	{"charger.supercharger", 3600},
	{"camera.speed", 4700},
	{"alert.construction", 5500},
	{"charger.destination", 6050},
	{"camera.red_light", 6900},
	{"camera.speed", 7700},
	{"camera.speed", 0},
	{"camera.speed", 0},
	{"camera.red_light", 0},
	{"charger.supercharger", 0},
	{"charger.destination", 0},
	{"charger.destination", 0},
	{"alert.construction", 0},
	{"alert.road_closed", 0},
}

// NewTown returns the simulation of the town, which is always the same.
func NewTown() *Town {
	t := &Town{rng: rand.New(rand.NewPCG(7, 9)), plan: newPlan()} //nolint:gosec // no secret depends on it
	for i, s := range standing {
		r, along := t.somewhere()
		if s.onDrive > 0 {
			r, along = t.plan.onDrive(s.onDrive)
		}
		stands := row{ExternalID: fmt.Sprintf("town:%02d", i), Kind: s.kind, Properties: properties(s.kind, r.name, i)}
		stands.stand(r, along)
		t.fixed = append(t.fixed, stands)
	}
	t.fixed = append(t.fixed, carriagewayCameras()...)
	return t
}

// carriagewayCameras returns two cameras on the motorway, one for each carriageway: the drive passes both, and only the second one
// concerns it.
func carriagewayCameras() []row {
	camera := func(id string, x, north, bearing float64) row {
		at := point(motorwayAt(x, north))
		return row{ExternalID: id, Kind: "camera.speed", Lat: at.Lat, Lng: at.Lng, Properties: map[string]any{
			"street": motorwayName, "maxspeed_kmh": 120, "bearing": bearing,
		}}
	}
	const east, west = 90, 270
	return []row{camera("town:eastbound", 4300, -carriageway, east), camera("town:westbound", 3700, carriageway, west)}
}

// stand places the row on a road.
func (r *row) stand(on *road, along float64) {
	lat, lng := place(on.at(along))
	r.Lat, r.Lng = rounded(lat), rounded(lng)
}

// somewhere picks a random point on a road of any class.
func (t *Town) somewhere() (r *road, along float64) {
	for {
		r = &t.plan.roads[t.rng.IntN(len(t.plan.roads))]
		along = t.rng.Float64() * r.length()
		if s := r.at(along); min(s.x, s.y) >= 0 && max(s.x, s.y) <= townMetres && !isQuiet(s) {
			return r, along
		}
	}
}

// witness is the set of providers that report an event.
type witness int

const (
	pushed witness = 1 << iota // the town's drivers, by push
	live                       // the traffic police, by relay
)

// happenings lists the kinds of events, how many of each exist at a time, and which providers report them. Both providers report
// accidents, and the service merges their reports into one pin.
var happenings = [...]struct {
	kind   string
	count  int
	speed  float64 // metres per second
	lasts  time.Duration
	seenBy witness
}{
	{"alert.police", 3, 0, 4 * time.Minute, live},
	{"alert.accident", 2, 0, 5 * time.Minute, pushed | live},
	{"alert.hazard.car_stopped", 2, 0, 3 * time.Minute, pushed},
	{"alert.hazard.object_on_road", 2, 0, 3 * time.Minute, pushed},
	{"alert.hazard.pothole", 2, 0, 10 * time.Minute, pushed},
	{"traffic.jam", 4, 2, 4 * time.Minute, live},
}

// Snapshot returns all permanent entities, which the publisher serves.
func (t *Town) Snapshot() []row { return t.fixed }

// retireTTL is the lifetime that retires an entity (Entity: ttl_seconds).
const retireTTL = 1

// Live returns the current events of the relay upstream as a complete answer. Their positions differ slightly from those that
// drivers push, and their external ids are different.
func (t *Town) Live() []row {
	rows := []row{}
	for _, e := range t.events {
		if e.seenBy&live == 0 {
			continue
		}
		r := e.row
		r.ExternalID, r.TTLSeconds = "live:"+e.ExternalID, 0
		if e.seenBy&pushed != 0 {
			r.stand(e.road, e.along+policeOffset)
		}
		rows = append(rows, r)
	}
	return rows
}

// policeOffset is the distance between two reports of one event, in metres. It is below the merge distance.
const policeOffset = 40

// Step advances the simulation to now and returns the changes that drivers push. took is the time since the last step.
func (t *Town) Step(now time.Time, took time.Duration) []row {
	batch := append(t.ship(now), t.drawbridge(now)...)
	var living []event
	for _, e := range t.events {
		along := math.Mod(e.along+e.speed*took.Seconds(), e.road.length())
		if !now.Before(e.until) || isQuiet(e.road.at(along)) {
			e.TTLSeconds, e.ObservedAt = retireTTL, ""
			batch = e.report(batch)
			continue
		}
		if e.speed > 0 {
			e.along = along
			e.stand(e.road, e.along)
			batch = e.report(batch)
		}
		living = append(living, e)
	}
	t.events = living
	for _, h := range happenings {
		count := 0
		for _, e := range t.events {
			if e.Kind == h.kind {
				count++
			}
		}
		for ; count < h.count; count++ {
			batch = t.begin(h.kind, h.speed, now, h.lasts, h.seenBy).report(batch)
		}
	}
	return batch
}

// report adds the event to a batch if drivers push it.
func (e *event) report(batch []row) []row {
	if e.seenBy&pushed == 0 {
		return batch
	}
	return append(batch, e.row)
}

// onDriveEvery is n where every n-th event is on the drive.
const onDriveEvery = 2

// begin starts an event.
func (t *Town) begin(kind string, speed float64, now time.Time, lasts time.Duration, seenBy witness) *event {
	t.number++
	r, along := t.somewhere()
	if t.number%onDriveEvery == 0 {
		for r, along = t.plan.onDrive(t.rng.Float64() * driveMetres()); isQuiet(r.at(along)); {
			r, along = t.plan.onDrive(t.rng.Float64() * driveMetres())
		}
	}
	e := event{
		road: r, along: along, speed: speed, seenBy: seenBy,
		until: now.Add(lasts/2 + time.Duration(t.rng.Float64()*float64(lasts))),
	}
	e.row = row{
		ExternalID: fmt.Sprintf("happening:%d:%d", now.Unix(), t.number), Kind: kind,
		Properties: properties(kind, r.name, t.number),
		TTLSeconds: int((2 * lasts).Seconds()), ObservedAt: now.UTC().Format(time.RFC3339),
	}
	e.stand(r, along)
	t.events = append(t.events, e)
	return &e
}
