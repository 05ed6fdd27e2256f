package httpapi

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/mapdata"
	"wayside/internal/nearby"
)

// How far a stream may be resumed.
const (
	resumable = 10 * time.Minute // after the event whose id the client names
	settling  = 30 * time.Second // from when an entity changed, as it says, to when it can be read: a snapshot of many rows takes a while
)

// eventID is what a client brings back of its last stream. Nothing is kept here: it says itself what the client has.
type eventID struct {
	at    time.Time // of the look that the client has whole
	floor time.Time // before which nothing that the client has was to expire; zero: nothing was
	print uint64    // of what was asked, and of what makes an answer comparable with that one
}

const idParts = 3

// append appends the id: three numbers in base 36.
func (id eventID) append(dst []byte) []byte {
	const base = 36
	dst = strconv.AppendInt(dst, id.at.UnixMilli(), base)
	dst = append(dst, '-')
	floor := int64(0)
	if !id.floor.IsZero() {
		floor = id.floor.UnixMilli()
	}
	dst = strconv.AppendInt(dst, floor, base)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, id.print, base)
}

// parseEventID reads what append wrote.
func parseEventID(text string) (eventID, bool) {
	const base, bits = 36, 64
	parts := strings.Split(text, "-")
	if len(parts) != idParts {
		return eventID{}, false
	}
	at, err := strconv.ParseInt(parts[0], base, bits)
	if err != nil || at <= 0 {
		return eventID{}, false
	}
	floor, err := strconv.ParseInt(parts[1], base, bits)
	if err != nil || floor < 0 {
		return eventID{}, false
	}
	print, err := strconv.ParseUint(parts[2], base, bits)
	if err != nil {
		return eventID{}, false
	}
	id := eventID{at: time.UnixMilli(at), print: print}
	if floor > 0 {
		id.floor = time.UnixMilli(floor)
	}
	return id, true
}

// usable says whether a stream that begins now may go on from there.
func (id eventID) usable(now time.Time) bool {
	return !id.at.After(now) && now.Sub(id.at) <= resumable
}

// fingerprint stands for everything on which it depends that what changed since, and what there is, are all that a client
// needs: this process, what it asked for and as whom, which sources there are, whether some of them did not fit, and
// what is merged into others. Whatever comes into view by one of these has not changed itself.
func (a *api) fingerprint(q *nearby.Query, answer *nearby.Answer) uint64 {
	d := xxhash.New()
	text := func(s string) {
		_, _ = d.WriteString(s) // a hash never fails
		_, _ = d.Write([]byte{0})
	}
	number := func(n uint64) {
		_, _ = d.Write(binary.LittleEndian.AppendUint64(nil, n))
	}
	flag := func(b bool) {
		if b {
			text("+")
		} else {
			text("-")
		}
	}
	names := func(list []string) {
		number(uint64(len(list)))
		for _, s := range list {
			text(s)
		}
	}
	text(a.boot)
	number(math.Float64bits(q.Center.Lat))
	number(math.Float64bits(q.Center.Lng))
	number(math.Float64bits(q.Radius))
	number(uint64(q.Kinds))
	number(uint64(q.Limit))
	names(q.Sources)
	names(q.Layers)
	names(answer.Networks)
	text(q.Account.String())
	for _, b := range []bool{q.Sources == nil, q.ByLayer, q.Curator, q.Driving, answer.Live, answer.Truncated} {
		flag(b)
	}
	for i := range answer.Sources {
		text(string(answer.Sources[i].ID))
	}
	return d.Sum64() ^ mergedOf(answer)
}

// mergedOf stands for what is merged into what, in any order.
func mergedOf(answer *nearby.Answer) uint64 {
	sum := uint64(0)
	for i := range answer.Hits {
		for _, m := range answer.Hits[i].Merged {
			sum += xxhash.Sum64String(string(m.Source) + "\x00" + string(m.ExternalID))
		}
	}
	return sum
}

// statusesOf stands for which sources there are and how they do, but for their counts, which every poll moves.
func statusesOf(answer *nearby.Answer) uint64 {
	d := xxhash.New()
	add := func(h *mapdata.SourceHealth) {
		for _, s := range []string{string(h.ID), "\x00", string(h.Status), "\x00"} {
			_, _ = d.WriteString(s) // a hash never fails
		}
	}
	if answer.Live {
		add(&answer.Incidents)
	}
	for i := range answer.Sources {
		add(&answer.Sources[i])
	}
	return d.Sum64()
}
