package httpapi

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
)

// Limits of resuming a stream.
const (
	maxResumeAge = 10 * time.Minute // since the event whose id the client sends
	maxReadDelay = 30 * time.Second // from an entity's time of change until it can be read: storing a large snapshot takes seconds
)

// eventID is the id of a stream's event, which the client sends back to resume. It describes the client's state, so that
// the server stores none.
type eventID struct {
	at             time.Time // of the last update that the client received completely
	earliestExpiry time.Time // of all entities that the client has; zero: nothing expires
	fingerprint    uint64    // of the request and of everything else that makes two answers comparable
}

const idParts = 3

// append appends the id: three numbers in base 36.
func (id eventID) append(dst []byte) []byte {
	const base = 36
	dst = strconv.AppendInt(dst, id.at.UnixMilli(), base)
	dst = append(dst, '-')
	earliestExpiry := int64(0)
	if !id.earliestExpiry.IsZero() {
		earliestExpiry = id.earliestExpiry.UnixMilli()
	}
	dst = strconv.AppendInt(dst, earliestExpiry, base)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, id.fingerprint, base)
}

// parseEventID parses what append wrote.
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
	earliestExpiry, err := strconv.ParseInt(parts[1], base, bits)
	if err != nil || earliestExpiry < 0 {
		return eventID{}, false
	}
	print, err := strconv.ParseUint(parts[2], base, bits)
	if err != nil {
		return eventID{}, false
	}
	id := eventID{at: time.UnixMilli(at), fingerprint: print}
	if earliestExpiry > 0 {
		id.earliestExpiry = time.UnixMilli(earliestExpiry)
	}
	return id, true
}

// resumableAt reports whether a stream that begins now may resume from the id.
func (id eventID) resumableAt(now time.Time) bool {
	return !id.at.After(now) && now.Sub(id.at) <= maxResumeAge
}

// fingerprint hashes everything that may bring entities into view or out of it although they have not changed: this process, the
// parameters, the caller, the sources, whether the answer is truncated, and which entities are merged. If it is equal, the client
// only needs the entities that changed since and the list of ids.
func (a *API) fingerprint(q *nearby.Query, answer *nearby.Answer) uint64 {
	d := xxhash.New()
	text := func(s string) {
		_, _ = d.WriteString(s) // writing to a hash cannot fail
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
	text(a.processID)
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
	return d.Sum64() ^ hashMerged(answer)
}

// hashMerged hashes which entities are merged, independent of their order.
func hashMerged(answer *nearby.Answer) uint64 {
	sum := uint64(0)
	for i := range answer.Hits {
		for _, m := range answer.Hits[i].Merged {
			sum += xxhash.Sum64String(string(m.Source) + "\x00" + string(m.ExternalID))
		}
	}
	return sum
}

// hashStatuses hashes the sources and their statuses, without the counts, which every poll changes.
func hashStatuses(answer *nearby.Answer) uint64 {
	d := xxhash.New()
	add := func(h *mapdata.SourceHealth) {
		for _, s := range []string{string(h.ID), "\x00", string(h.Status), "\x00"} {
			_, _ = d.WriteString(s) // writing to a hash cannot fail
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
