package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"wayside/internal/geo"
)

// center is the middle of the town.
var center = geo.Point{Lat: 52.0, Lng: 5.0}

// The town's plan: streets a block apart, running north and east.
const (
	blocks       = 24
	blockMetres  = 220.0
	metresPerLat = 111_195.0
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
	fixed  []row
	events []event
	number int
}

// event is something on the road for a while: it drives along its street, or stands.
type event struct {
	row
	seenBy        witness
	street, along float64 // metres from the town's south-west corner
	northward     bool
	speed         float64 // metres in a second; 0: it stands
	until         time.Time
}

// NewTown builds the town, the same one each time.
func NewTown() *Town {
	t := &Town{rng: rand.New(rand.NewPCG(7, 9))} //nolint:gosec // a town, no secret
	for i, kind := range []string{
		"camera.speed", "camera.speed", "camera.red_light", "camera.red_light", "camera.avg_speed",
		"charger.supercharger", "charger.supercharger", "charger.destination", "charger.destination", "charger.destination",
		"alert.construction", "alert.construction", "alert.road_closed",
	} {
		street, along, northward := t.spot()
		r := row{ExternalID: fmt.Sprintf("town:%02d", i), Kind: kind, Properties: map[string]any{"street": streetName(street, northward)}}
		r.Lat, r.Lng = place(street, along, northward)
		t.fixed = append(t.fixed, r)
	}
	return t
}

// spot picks a place on a street.
func (t *Town) spot() (street, along float64, northward bool) {
	return float64(t.rng.IntN(blocks)) * blockMetres, t.rng.Float64() * blocks * blockMetres, t.rng.IntN(2) == 0
}

// place turns a street and a way along it into degrees, to the metre.
func place(street, along float64, northward bool) (lat, lng float64) {
	east, north := along, street
	if northward {
		east, north = street, along
	}
	half := blocks * blockMetres / 2
	metresPerLng := metresPerLat * math.Cos(center.Lat*math.Pi/180)
	const metre = 1e5 // five decimals of a degree
	return math.Round((center.Lat+(north-half)/metresPerLat)*metre) / metre,
		math.Round((center.Lng+(east-half)/metresPerLng)*metre) / metre
}

func streetName(street float64, northward bool) string {
	n := int(street/blockMetres) + 1
	if northward {
		return fmt.Sprintf("%d. Avenue", n)
	}
	return fmt.Sprintf("%d. Street", n)
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
			r.Lat, r.Lng = place(e.street, e.along+policeOffset, e.northward)
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
			e.along = math.Mod(e.along+e.speed*took.Seconds(), blocks*blockMetres)
			e.Lat, e.Lng = place(e.street, e.along, e.northward)
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

// begin lets something happen.
func (t *Town) begin(kind string, speed float64, now time.Time, lasts time.Duration, seenBy witness) *event {
	t.number++
	street, along, northward := t.spot()
	e := event{
		street: street, along: along, northward: northward, speed: speed, seenBy: seenBy,
		until: now.Add(lasts/2 + time.Duration(t.rng.Float64()*float64(lasts))),
	}
	e.row = row{
		ExternalID: fmt.Sprintf("happening:%d:%d", now.Unix(), t.number), Kind: kind,
		Properties: map[string]any{"street": streetName(street, northward)},
		TTLSeconds: int((2 * lasts).Seconds()), ObservedAt: now.UTC().Format(time.RFC3339),
	}
	e.Lat, e.Lng = place(street, along, northward)
	t.events = append(t.events, e)
	return &e
}
