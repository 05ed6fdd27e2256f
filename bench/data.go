package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// towns is the number of clusters that contain 80 % of the entities, each with a radius of about 15 km.
const towns = 300

// country generates the entities, always the same ones.
type country struct {
	rng   *rand.Rand
	towns [towns][2]float64
	kinds []string
}

func newCountry() *country {
	c := &country{rng: rand.New(rand.NewPCG(20261121, 1)), kinds: []string{
		"camera.speed", "camera.red_light", "alert.construction", "alert.hazard.pothole", "alert.road_closed",
		"camera.speed", "charger.destination", "camera.avg_speed",
	}}
	for i := range c.towns {
		c.towns[i] = [2]float64{44 + c.rng.Float64()*10, -1 + c.rng.Float64()*16}
	}
	return c
}

// place returns a random point, in a town with a probability of 80 %.
func (c *country) place() (lat, lng float64) {
	if c.rng.IntN(5) == 0 {
		return 44 + c.rng.Float64()*10, -1 + c.rng.Float64()*16
	}
	const spread = 0.0674 // a standard deviation of 7.5 km: most within 15 km
	t := c.towns[c.rng.IntN(towns)]
	return t[0] + c.rng.NormFloat64()*spread, t[1] + c.rng.NormFloat64()*spread*1.5
}

// appendRow appends one v1 row. The version is part of its properties, so that another version is a change.
func (c *country) appendRow(dst []byte, prefix string, number, version int) []byte {
	lat, lng := c.place()
	return appendEntity(dst, entity{prefix, number, c.kinds[number%len(c.kinds)], lat, lng}, version)
}

// entity is the content of a row.
type entity struct {
	prefix   string
	number   int
	kind     string
	lat, lng float64 // degrees
}

func appendEntity(dst []byte, e entity, version int) []byte {
	dst = fmt.Appendf(dst, `{"external_id":"%s:%07d","kind":"%s","lat":`, e.prefix, e.number, e.kind)
	dst = strconv.AppendFloat(dst, e.lat, 'f', 6, 64)
	dst = append(dst, `,"lng":`...)
	dst = strconv.AppendFloat(dst, e.lng, 'f', 6, 64)
	return fmt.Appendf(dst, `,"properties":{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":%d}}`,
		e.number%977, e.number%towns, 30+e.number%10*10, version)
}

// batch encodes the rows from, from+1, … of a feed as JSON.
func (c *country) batch(prefix string, from, count, version int) []byte {
	dst := append(make([]byte, 0, count*220), '[')
	for i := range count {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.appendRow(dst, prefix, from+i, version)
	}
	return append(dst, ']')
}
