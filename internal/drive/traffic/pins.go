package traffic

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/match"
)

// pin is one of the entities that make up a condition, with the arcs that it affects (D15.15). It never changes.
type pin struct {
	id      string
	digest  uint64 // of the entity's properties and place; 0: it was not matched yet
	at      geo.Point
	effect  effect
	arcs    []uint32 // sorted
	nearest []uint32 // those of arcs that belong to the piece nearest to the point; a delay counts on these alone, so that it counts once

	description string
}

// pins caches the pins of the conditions that a follower knows, by entity. Matching a line to roads costs far more than
// all other work on an entity, and most entities that are read again did not change.
type pins struct {
	byID    sync.Map // string → *pin
	matched atomic.Uint64
}

// Matched returns how many entities were matched to roads so far.
func (n *Network) Matched() uint64 { return n.pins.matched.Load() }

// keep caches pins. Only the follower may call keep and forget.
func (k *pins) keep(all []*pin) {
	for _, p := range all {
		if p.digest != 0 {
			k.byID.Store(p.id, p)
		}
	}
}

func (k *pins) forget(all []*pin) {
	for _, p := range all {
		k.byID.CompareAndDelete(p.id, p)
	}
}

// matchBudget bounds how many places are matched; a nil budget is unlimited.
type matchBudget struct{ left int }

// pointSamples is the cost of matching a point, in places of a line.
const pointSamples = 4

func (p *matchBudget) spend(line []geo.Point, both bool) bool {
	if p == nil {
		return true
	}
	samples := pointSamples
	if len(line) >= 2 {
		samples += match.Samples(line)
	}
	if both {
		samples *= 2
	}
	if samples > p.left {
		return false
	}
	p.left -= samples
	return true
}

// pinOf returns the pin of an entity, and whether it was matched. A pin that was not matched has no arcs.
func (n *Network) pinOf(h *mapdata.Hit, id string, left *matchBudget) (p *pin, matched bool) {
	digest := n.digestOf(&mapdata.Hit{Point: h.Point, Prepared: h.Prepared}, false)
	if known, ok := n.pins.byID.Load(id); ok {
		if p, ok := known.(*pin); ok && p.digest == digest {
			return p, true
		}
	}
	properties := parseProperties(wire.Properties(h))
	if properties.line == nil && wire.HasLine(h) {
		properties.line = wire.AppendLine(nil, h)
	}
	p = &pin{id: id, at: h.Point, effect: properties.effect, description: properties.description}
	if !left.spend(properties.line, properties.bothDirections) {
		return p, false
	}
	n.pins.matched.Add(1)
	p.digest = digest
	p.arcs = n.arcs(h.Point, &properties)
	p.nearest = n.nearest(p.arcs, h.Point)
	return p, true
}

// digestOf hashes every part of an entity that its condition depends on.
func (n *Network) digestOf(h *mapdata.Hit, disputed bool) uint64 {
	var d maphash.Hash
	d.SetSeed(n.seed)
	writePart(&d, h.Kind, h.Point, h.ExpiresAt, h.Prepared)
	writeNumber(&d, uint64(h.FirstSeenAt))
	if disputed {
		_ = d.WriteByte(1)
	}
	for i := range h.Merged {
		m := &h.Merged[i]
		_, _ = d.WriteString(string(m.Source))
		writeNumber(&d, uint64(len(m.ExternalID)))
		_, _ = d.Write(m.ExternalID)
		writePart(&d, m.Kind, m.Point, m.ExpiresAt, m.Prepared)
	}
	return d.Sum64()
}

func writePart(d *maphash.Hash, kind mapdata.Kind, at geo.Point, expires int64, prepared []byte) {
	_ = d.WriteByte(byte(kind))
	writeNumber(d, math.Float64bits(at.Lat))
	writeNumber(d, math.Float64bits(at.Lng))
	writeNumber(d, uint64(expires))
	writeNumber(d, uint64(len(prepared)))
	_, _ = d.Write(prepared)
}

func writeNumber(d *maphash.Hash, number uint64) {
	var text [8]byte
	binary.LittleEndian.PutUint64(text[:], number)
	_, _ = d.Write(text[:])
}

// arcs returns the sorted arcs that an entity affects.
func (n *Network) arcs(at geo.Point, p *properties) []uint32 {
	if len(p.line) >= 2 {
		arcs := n.index.Along(p.line)
		if p.bothDirections {
			slices.Reverse(p.line)
			arcs = append(arcs, n.index.Along(p.line)...)
			slices.Sort(arcs)
			arcs = slices.Compact(arcs)
		}
		return arcs
	}
	arcs := n.index.At(at, p.street, p.bearing, p.hasBearing && !p.bothDirections)
	slices.Sort(arcs)
	return arcs
}

// nearest returns those arcs that belong to the piece nearest to a point.
func (n *Network) nearest(arcs []uint32, at geo.Point) []uint32 {
	among := func(piece uint32) bool {
		return slices.ContainsFunc(arcs, func(arc uint32) bool { return n.graph.Arcs[arc].Piece == piece })
	}
	if len(arcs) == 0 || !slices.ContainsFunc(arcs, func(arc uint32) bool { return n.graph.Arcs[arc].Piece != n.graph.Arcs[arcs[0]].Piece }) {
		return arcs // all on one piece
	}
	place := n.index.Nearest(nil, at, match.Nearest{Within: 1e5, Count: 1, Accept: among})
	if len(place) == 0 {
		return arcs[:1]
	}
	return slices.DeleteFunc(slices.Clone(arcs), func(arc uint32) bool { return n.graph.Arcs[arc].Piece != place[0].Piece })
}
