package mapdata

import "time"

// Status is the state of a source (D4.15).
type Status string

// The statuses of a source.
const (
	Online   Status = "online"
	Degraded Status = "degraded"
	Offline  Status = "offline"
)

// Health is a source's state as readers see it.
type Health struct {
	Status        Status
	LastSuccessAt time.Time // zero: never
	OK, Fail      int       // of the recent attempts
}

// SourceHealth is the health of one source.
type SourceHealth struct {
	ID SourceID
	Health
}

// Definition of "recent" (D4.15).
const (
	RecentPolls      = 20
	RecentPushes     = time.Hour
	degradedAttempts = 5
	maxPushSilence   = 24 * time.Hour
	minutesInHour    = 60
)

// Recent is the part of a feed's attempts that its health depends on: the last few one by one, those of the last hour
// by minute. The zero value is a feed without attempts. A copy is independent of the original.
type Recent struct {
	last     [RecentPolls]bool // newest first
	known    int               // number of attempts in last
	revision int64             // of the newest
	success  time.Time
	minutes  [minutesInHour + 1]attemptCount // by minute since the epoch, modulo its length
}

type attemptCount struct {
	minute   int64
	ok, fail int32
}

// Revision returns the store's revision of the newest attempt, or 0 if there is none.
func (r *Recent) Revision() int64 { return r.revision }

// AddAttempt adds the attempt that was recorded with a revision of the store. Attempts must come in the order of their
// revisions; an attempt that is not newer than the newest one is ignored. Their times do not decide, because nodes'
// clocks differ and two attempts may have the same millisecond.
func (r *Recent) AddAttempt(revision int64, a *Attempt) {
	if revision <= r.revision {
		return
	}
	r.revision = revision
	if a.OK && a.At.After(r.success) {
		r.success = a.At
	}
	copy(r.last[1:], r.last[:])
	r.last[0] = a.OK
	r.known = min(r.known+1, RecentPolls)
	minute := a.At.Unix() / 60
	slot := &r.minutes[minute%int64(len(r.minutes))]
	if slot.minute > minute {
		return // more than an hour older than the others: no longer recent
	}
	if slot.minute < minute {
		*slot = attemptCount{minute: minute}
	}
	if a.OK {
		slot.ok++
	} else {
		slot.fail++
	}
}

// forever is the end of a health that time alone does not change.
var forever = time.Unix(1<<40, 0)

// FeedHealth derives the health of a feed (D4.15). decaying means that the feed's entities expire. As long as no
// attempt is recorded and the feed does not change, the health is the same from now to before until.
func FeedHealth(f *Feed, r *Recent, decaying bool, now time.Time) (h Health, until time.Time) {
	h, until = Health{Status: status(f, r, decaying, now), LastSuccessAt: r.success}, forever
	if h.LastSuccessAt.IsZero() {
		h.LastSuccessAt = lastSuccess(f)
	}
	if f.Direction == Push {
		if silent := f.LastPushAt.Add(maxPushSilence + 1); decaying && now.Before(silent) {
			until = silent
		}
		oldest := now.Add(-RecentPushes).Unix() / 60
		for _, slot := range r.minutes {
			if slot.minute > oldest {
				h.OK += int(slot.ok)
				h.Fail += int(slot.fail)
				until = earlier(until, time.Unix(slot.minute*60, 0).Add(RecentPushes))
			}
		}
		return h, until
	}
	for _, ok := range r.last[:r.known] {
		if ok {
			h.OK++
		} else {
			h.Fail++
		}
	}
	return h, until
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func status(f *Feed, r *Recent, decaying bool, now time.Time) Status {
	switch {
	case f.Active && f.Builtin():
		return Online // it is up to date with the region, whenever that was imported
	case !f.Active, r.known == 0:
		return Offline
	case f.Direction == Push && decaying && now.Sub(f.LastPushAt) > maxPushSilence:
		return Offline
	case r.last[0]:
		return Online
	}
	for _, ok := range r.last[:min(r.known, degradedAttempts)] {
		if ok {
			return Degraded
		}
	}
	return Offline
}

func lastSuccess(f *Feed) time.Time {
	if f.Direction == Push {
		return f.LastPushAt
	}
	return f.SnapshotAt
}
