package mapdata

import "time"

// Status is how a source does (D4.15).
type Status string

// The statuses of a source.
const (
	Online   Status = "online"
	Degraded Status = "degraded"
	Offline  Status = "offline"
)

// Health is what readers learn of a source's state.
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

// What counts as recent (D4.15).
const (
	RecentPolls   = 20
	RecentPushes  = time.Hour
	degradedSpan  = 5
	pushSilence   = 24 * time.Hour
	minutesInHour = 60
)

// Recent is what Health remembers of a feed's attempts: the last few by themselves, the last hour's by the minute. The
// zero value remembers none.
type Recent struct {
	last    []bool // newest first, at most RecentPolls
	newest  time.Time
	success time.Time
	minutes [minutesInHour + 1]attemptCount // by minute since the epoch, modulo its length
}

type attemptCount struct {
	minute   int64
	ok, fail int32
}

// Newest is when the newest attempt was; zero: none.
func (r *Recent) Newest() time.Time { return r.newest }

// Add remembers an attempt. Attempts come in the order of their times; one that is not newer than the newest is known
// already.
func (r *Recent) Add(a Attempt) {
	if !a.At.After(r.newest) {
		return
	}
	r.newest = a.At
	if a.OK {
		r.success = a.At
	}
	if len(r.last) < RecentPolls {
		r.last = append(r.last, false)
	}
	copy(r.last[1:], r.last)
	r.last[0] = a.OK
	minute := a.At.Unix() / 60
	slot := &r.minutes[minute%int64(len(r.minutes))]
	if slot.minute != minute {
		*slot = attemptCount{minute: minute}
	}
	if a.OK {
		slot.ok++
	} else {
		slot.fail++
	}
}

// FeedHealth judges a feed (D4.15). decaying says whether the feed's entities expire.
func FeedHealth(f *Feed, r *Recent, decaying bool, now time.Time) Health {
	h := Health{Status: status(f, r, decaying, now), LastSuccessAt: r.success}
	if h.LastSuccessAt.IsZero() {
		h.LastSuccessAt = lastSuccess(f)
	}
	if f.Direction == Push {
		oldest := now.Add(-RecentPushes).Unix() / 60
		for _, slot := range r.minutes {
			if slot.minute > oldest {
				h.OK += int(slot.ok)
				h.Fail += int(slot.fail)
			}
		}
		return h
	}
	for _, ok := range r.last {
		if ok {
			h.OK++
		} else {
			h.Fail++
		}
	}
	return h
}

func status(f *Feed, r *Recent, decaying bool, now time.Time) Status {
	switch {
	case !f.Active, len(r.last) == 0:
		return Offline
	case f.Direction == Push && decaying && now.Sub(f.LastPushAt) > pushSilence:
		return Offline
	case r.last[0]:
		return Online
	}
	for _, ok := range r.last[:min(len(r.last), degradedSpan)] {
		if ok {
			return Degraded
		}
	}
	return Offline
}

func lastSuccess(f *Feed) time.Time {
	if f.Direction == Pull {
		return f.SnapshotAt
	}
	return f.LastPushAt
}
