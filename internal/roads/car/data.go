package car

import (
	"bytes"
	_ "embed" // for go:embed
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

//go:embed navigation-car.json
var builtIn []byte

// data is the form of navigation-car.json. Speeds are in km/h, times in seconds, lengths in metres, weights in kilograms.
type data struct {
	Version            int                 `json:"version"`
	Units              map[string]string   `json:"units"`
	HighwaySpeed       map[string]float64  `json:"highway_speed"`
	RouteSpeed         map[string]float64  `json:"route_speed"`
	MovableBridgeSpeed float64             `json:"movable_bridge_speed"`
	OtherSpeed         float64             `json:"other_speed"`
	Never              map[string][]string `json:"never"`
	ConstructionOpen   []string            `json:"construction_open"`
	AccessKeys         []string            `json:"access_keys"`
	AccessOpen         []string            `json:"access_open"`
	AccessLocal        []string            `json:"access_local"`
	AccessClosed       []string            `json:"access_closed"`
	LocalTurnWeight    float64             `json:"local_turn_weight"`
	OnewayKeys         []string            `json:"oneway_keys"`
	OnewayForward      []string            `json:"oneway_forward"`
	OnewayBackward     []string            `json:"oneway_backward"`
	OnewayImplied      map[string][]string `json:"oneway_implied"`
	Vehicle            vehicle             `json:"vehicle"`
	MaxspeedKeys       []string            `json:"maxspeed_keys"`
	MaxspeedFactor     float64             `json:"maxspeed_factor"`
	MPH                float64             `json:"mph"`
	MaxspeedZone       map[string]float64  `json:"maxspeed_zone"`
	MaxspeedNamed      map[string]float64  `json:"maxspeed_named"`
	SurfaceCap         map[string]float64  `json:"surface_cap"`
	TracktypeCap       map[string]float64  `json:"tracktype_cap"`
	SmoothnessCap      map[string]float64  `json:"smoothness_cap"`
	Rate               rate                `json:"rate"`
	BarrierOpen        []string            `json:"barrier_open"`
	BarrierDelay       map[string]float64  `json:"barrier_delay"`
	NodeDelay          map[string]float64  `json:"node_delay"`
	Turn               turnFigures         `json:"turn"`
}

// vehicle is the size of the car.
type vehicle struct {
	Height float64 `json:"height"`
	Width  float64 `json:"width"`
	Length float64 `json:"length"`
	Weight float64 `json:"weight"`
}

// rate holds the factors by which a speed is multiplied to get the rate.
type rate struct {
	Service          map[string]float64 `json:"service"`
	TwoWayWidth      [][]float64        `json:"two_way_width"` // pairs of a width and a factor, by width
	TwoWayOneLane    float64            `json:"two_way_one_lane"`
	TwoWayNoMarkings float64            `json:"two_way_no_markings"`
	Alternating      float64            `json:"alternating"`
	SideRoad         float64            `json:"side_road"`
	AgainstPriority  float64            `json:"against_priority"`
}

// turnFigures holds the maximum cost of a turn, the bias against crossing the opposite lane, and the extra cost of
// turning back.
type turnFigures struct {
	Most      float64 `json:"most"`
	Bias      float64 `json:"bias"`
	UTurn     float64 `json:"u_turn"`
	LookAhead float64 `json:"look_ahead"`
}

// decode parses data strictly: an unknown, missing or impossible member is an error that names the member.
func decode(text []byte) (data, error) {
	var d data
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return data{}, fmt.Errorf("read the car's figures: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return data{}, errors.New("read the car's figures: text follows the JSON object")
	}
	if err := d.check(); err != nil {
		return data{}, fmt.Errorf("read the car's figures: %w", err)
	}
	return d, nil
}

// checker keeps the first error.
type checker struct{ err error }

func (c *checker) fail(member, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("member %s: %s", member, fmt.Sprintf(format, args...))
	}
}

// above checks that a number is larger than 0 and at most most.
func (c *checker) above(member string, number, most float64) {
	if !(number > 0 && number <= most) {
		c.fail(member, "%v is not above 0 and at most %v", number, most)
	}
}

// table checks an object of names and numbers from least to most.
func (c *checker) table(member string, table map[string]float64, least, most float64) {
	if len(table) == 0 {
		c.fail(member, "it is missing or empty")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if number := table[name]; name == "" || !(number >= least && number <= most) {
			c.fail(member+"."+name, "%v is not from %v to %v", number, least, most)
		}
	}
}

// words checks a list of distinct words.
func (c *checker) words(member string, words []string) {
	if len(words) == 0 {
		c.fail(member, "it is missing or empty")
	}
	for i, word := range words {
		if word == "" || slices.Contains(words[:i], word) {
			c.fail(member, "%q is empty or stands twice", word)
		}
	}
}

// wordsByKey checks an object of keys and lists of values.
func (c *checker) wordsByKey(member string, byKey map[string][]string) {
	if len(byKey) == 0 {
		c.fail(member, "it is missing or empty")
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		c.words(member+"."+key, byKey[key])
	}
}

// apart checks that no word is also in another list.
func (c *checker) apart(member string, words []string, others ...[]string) {
	for _, word := range words {
		for _, other := range others {
			if slices.Contains(other, word) {
				c.fail(member, "%q stands in another list too, which says otherwise", word)
			}
		}
	}
}

// Bounds that no sensible figure exceeds: they keep every cost finite.
const (
	maxSpeed   = 1000    // km/h
	maxSeconds = 100_000 // of one node or turn
	maxVehicle = 1e6     // metres or kilograms
)

func (d *data) check() error {
	c := &checker{}
	if d.Version != 1 {
		c.fail("version", "%d is not 1, the version that this program reads", d.Version)
	}
	if !maps.Equal(d.Units, map[string]string{"speed": "km/h", "time": "s", "length": "m", "weight": "kg"}) {
		c.fail("units", "they are not km/h, s, m and kg")
	}
	d.checkAccess(c)
	d.checkSpeeds(c)
	d.checkRate(c)
	c.words("barrier_open", d.BarrierOpen)
	c.table("barrier_delay", d.BarrierDelay, math.SmallestNonzeroFloat64, maxSeconds)
	c.table("node_delay", d.NodeDelay, math.SmallestNonzeroFloat64, maxSeconds)
	c.above("turn.most", d.Turn.Most, maxSeconds)
	c.above("turn.bias", d.Turn.Bias, 100)
	c.above("turn.u_turn", d.Turn.UTurn, maxSeconds)
	c.above("turn.look_ahead", d.Turn.LookAhead, maxVehicle)
	c.above("local_turn_weight", d.LocalTurnWeight, maxSeconds)
	return c.err
}

func (d *data) checkAccess(c *checker) {
	c.wordsByKey("never", d.Never)
	c.words("construction_open", d.ConstructionOpen)
	c.words("access_keys", d.AccessKeys)
	c.words("access_open", d.AccessOpen)
	c.words("access_local", d.AccessLocal)
	c.words("access_closed", d.AccessClosed)
	c.apart("access_open", d.AccessOpen, d.AccessLocal, d.AccessClosed)
	c.apart("access_local", d.AccessLocal, d.AccessClosed)
	c.words("oneway_keys", d.OnewayKeys)
	c.words("oneway_forward", d.OnewayForward)
	c.words("oneway_backward", d.OnewayBackward)
	c.apart("oneway_forward", d.OnewayForward, d.OnewayBackward)
	c.wordsByKey("oneway_implied", d.OnewayImplied)
	c.above("vehicle.height", d.Vehicle.Height, maxVehicle)
	c.above("vehicle.width", d.Vehicle.Width, maxVehicle)
	c.above("vehicle.length", d.Vehicle.Length, maxVehicle)
	c.above("vehicle.weight", d.Vehicle.Weight, maxVehicle)
}

func (d *data) checkSpeeds(c *checker) {
	const least = 1 // km/h; slower would be a road that takes days
	c.table("highway_speed", d.HighwaySpeed, least, maxSpeed)
	c.table("route_speed", d.RouteSpeed, least, maxSpeed)
	c.above("movable_bridge_speed", d.MovableBridgeSpeed, maxSpeed)
	c.above("other_speed", d.OtherSpeed, maxSpeed)
	c.words("maxspeed_keys", d.MaxspeedKeys)
	c.above("maxspeed_factor", d.MaxspeedFactor, 1)
	c.above("mph", d.MPH, 10)
	c.table("maxspeed_zone", d.MaxspeedZone, 0, maxSpeed)
	c.table("maxspeed_named", d.MaxspeedNamed, 0, maxSpeed)
	for _, name := range slices.Sorted(maps.Keys(d.MaxspeedNamed)) {
		if name != strings.ToLower(name) {
			c.fail("maxspeed_named."+name, "it is not in lower case, and so would never be found")
		}
	}
	c.table("surface_cap", d.SurfaceCap, 0, maxSpeed)
	c.table("tracktype_cap", d.TracktypeCap, 0, maxSpeed)
	c.table("smoothness_cap", d.SmoothnessCap, 0, maxSpeed)
}

func (d *data) checkRate(c *checker) {
	const minFactor, maxFactor = 0.001, 1
	c.table("rate.service", d.Rate.Service, minFactor, maxFactor)
	if len(d.Rate.TwoWayWidth) == 0 {
		c.fail("rate.two_way_width", "it is missing or empty")
	}
	below := 0.0
	for _, pair := range d.Rate.TwoWayWidth {
		if len(pair) != 2 || !(pair[0] > below && pair[0] <= maxVehicle) || !(pair[1] >= minFactor && pair[1] <= maxFactor) {
			c.fail("rate.two_way_width", "%v is not a pair of a width, larger than the one before, and a factor up to 1", pair)
			break
		}
		below = pair[0]
	}
	for _, f := range []struct {
		member string
		factor float64
	}{
		{"two_way_one_lane", d.Rate.TwoWayOneLane},
		{"two_way_no_markings", d.Rate.TwoWayNoMarkings},
		{"alternating", d.Rate.Alternating},
		{"side_road", d.Rate.SideRoad},
		{"against_priority", d.Rate.AgainstPriority},
	} {
		if !(f.factor >= minFactor && f.factor <= maxFactor) {
			c.fail("rate."+f.member, "%v is not from %v to %v", f.factor, minFactor, maxFactor)
		}
	}
}
