package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// row is a v1 row as a provider writes it.
type row struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
	TTLSeconds int            `json:"ttl_seconds,omitempty"`
	ObservedAt string         `json:"observed_at,omitempty"`
}

// Town knows what stands beside its streets and what happens on them. It is for one goroutine.
type Town struct {
	rng    *rand.Rand
	plan   *plan
	fixed  []row
	events []event
	number int
}

// event is something on the road for a while: it drives along its street, or stands.
type event struct {
	row
	seenBy witness
	road   *road
	along  float64 // metres from the road's beginning
	speed  float64 // metres in a second; 0: it stands
	until  time.Time
}

// standing is what stands beside the streets: on the drive so many metres along it, or anywhere.
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

// NewTown builds the town, the same one each time.
func NewTown() *Town {
	t := &Town{rng: rand.New(rand.NewPCG(7, 9)), plan: newPlan()} //nolint:gosec // a town, no secret
	for i, s := range standing {
		r, along := t.somewhere()
		if s.onDrive > 0 {
			r, along = t.plan.onDrive(s.onDrive)
		}
		stands := row{ExternalID: fmt.Sprintf("town:%02d", i), Kind: s.kind, Properties: map[string]any{"street": r.name}}
		stands.stand(r, along)
		t.fixed = append(t.fixed, stands)
	}
	return t
}

// stand puts the row on a road.
func (r *row) stand(on *road, along float64) {
	lat, lng := place(on.at(along))
	r.Lat, r.Lng = rounded(lat), rounded(lng)
}

// somewhere picks a place on a road of the town: small streets and main ones alike.
func (t *Town) somewhere() (r *road, along float64) {
	for {
		r = &t.plan.roads[t.rng.IntN(len(t.plan.roads))]
		along = t.rng.Float64() * r.length()
		if s := r.at(along); min(s.x, s.y) >= 0 && max(s.x, s.y) <= townMetres {
			return r, along
		}
	}
}

// witness is who tells of an event.
type witness int

const (
	pushed witness = 1 << iota // the town's drivers, by push
	live                       // the traffic police, by relay
)

// happenings is what can come up on a street, how many of each the town has at a time, and who tells of it: of accidents
// both do, and the service makes one pin of what they say.
var happenings = [...]struct {
	kind   string
	count  int
	speed  float64 // metres in a second
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

// Snapshot is everything that stands in the town: what its authority publishes.
func (t *Town) Snapshot() []row { return t.fixed }

// retireTTL is the lifetime that retires an entity (Entity: ttl_seconds).
const retireTTL = 1

// Live is what the traffic police see now: a complete answer of a relay upstream. They stand a little way off what the
// drivers mean, and have names of their own for it.
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

// policeOffset is how far apart two witnesses place one event, in metres: less than what makes two of them.
const policeOffset = 40

// Step moves the town on to now and gives what changed of what drivers tell: a batch for a push. took is the time since
// the last step.
func (t *Town) Step(now time.Time, took time.Duration) []row {
	var batch []row
	var living []event
	for _, e := range t.events {
		if !now.Before(e.until) {
			e.TTLSeconds, e.ObservedAt = retireTTL, ""
			batch = e.tell(batch)
			continue
		}
		if e.speed > 0 {
			e.along = math.Mod(e.along+e.speed*took.Seconds(), e.road.length())
			e.stand(e.road, e.along)
			batch = e.tell(batch)
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
			batch = t.begin(h.kind, h.speed, now, h.lasts, h.seenBy).tell(batch)
		}
	}
	return batch
}

// tell adds the event to a batch, if it is pushed.
func (e *event) tell(batch []row) []row {
	if e.seenBy&pushed == 0 {
		return batch
	}
	return append(batch, e.row)
}

// onDriveEvery is how often something happens on the drive rather than anywhere: every second time.
const onDriveEvery = 2

// begin lets something happen.
func (t *Town) begin(kind string, speed float64, now time.Time, lasts time.Duration, seenBy witness) *event {
	t.number++
	r, along := t.somewhere()
	if t.number%onDriveEvery == 0 {
		r, along = t.plan.onDrive(t.rng.Float64() * driveMetres())
	}
	e := event{
		road: r, along: along, speed: speed, seenBy: seenBy,
		until: now.Add(lasts/2 + time.Duration(t.rng.Float64()*float64(lasts))),
	}
	e.row = row{
		ExternalID: fmt.Sprintf("happening:%d:%d", now.Unix(), t.number), Kind: kind,
		Properties: map[string]any{"street": r.name},
		TTLSeconds: int((2 * lasts).Seconds()), ObservedAt: now.UTC().Format(time.RFC3339),
	}
	e.stand(r, along)
	t.events = append(t.events, e)
	return &e
}
