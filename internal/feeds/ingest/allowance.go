package ingest

import (
	"fmt"
	"math"

	"wayside/internal/ground/mapdata"
)

// allowance bounds the growth that a change may add to its feed and to the feeds of its owner (D5.10).
type allowance struct {
	feed     mapdata.Usage // bound of the feed
	account  int64         // bound of the bytes of all feeds of the owner
	mark     *mapdata.Mark
	grows    mapdata.Usage // by the rows admitted so far
	rejected int
}

func newAllowance(l *mapdata.StorageLimits, mark *mapdata.Mark) *allowance {
	return &allowance{feed: l.OfFeed(mark.ApprovedOnce), account: l.OfAccount(), mark: mark}
}

// unbounded returns the allowance of a built-in feed, whose rows the operator imported.
func unbounded(mark *mapdata.Mark) *allowance {
	return &allowance{feed: mapdata.Usage{Entities: math.MaxInt, Bytes: math.MaxInt64}, account: math.MaxInt64, mark: mark}
}

// growth returns the difference in usage of storing an entity in place of old, which is nil for a new one.
func growth(e *mapdata.Entity, old *mapdata.Stored) mapdata.Usage {
	bytes := mapdata.RowBytes(e.ExternalID, e.Properties, e.Line)
	if old == nil {
		return mapdata.Usage{Entities: 1, Bytes: bytes}
	}
	return mapdata.Usage{Bytes: bytes - old.Bytes}
}

// retire counts an entity that is removed.
func (a *allowance) retire(old *mapdata.Stored) {
	a.grows = a.grows.Plus(mapdata.Usage{Entities: -1, Bytes: -old.Bytes})
}

// frees reports whether a growth adds nothing, and so is always admitted.
func frees(by mapdata.Usage) bool { return by.Entities <= 0 && by.Bytes <= 0 }

// admit counts a growth if there is room for it.
func (a *allowance) admit(by mapdata.Usage) bool {
	next := a.grows.Plus(by)
	held := a.mark.Holds.Plus(next)
	if !frees(by) && (by.Entities > 0 && held.Entities > a.feed.Entities ||
		by.Bytes > 0 && (held.Bytes > a.feed.Bytes || a.mark.AccountBytes+next.Bytes > a.account)) {
		a.rejected++
		return false
	}
	a.grows = next
	return true
}

// full returns the error of a row that was not admitted.
func (a *allowance) full(index int, externalID string) *RowError {
	message := fmt.Sprintf("The feed is full: it holds %d entities and %d bytes of at most %d and %d",
		a.mark.Holds.Entities, a.mark.Holds.Bytes, a.feed.Entities, a.feed.Bytes)
	if a.mark.AccountBytes+a.grows.Bytes >= a.account-mapdata.RowBytes(externalID, nil, nil)-maxProperties {
		message = fmt.Sprintf("The account is full: its feeds hold %d bytes of at most %d", a.mark.AccountBytes, a.account)
	} else if !a.mark.ApprovedOnce {
		message += ", until a curator approves it"
	}
	return &RowError{
		Index: index, ExternalID: &externalID, Code: codeFeedFull,
		Message: message + ". Remove what is no longer there, or ask the operator for a higher limit.",
	}
}

// settle writes the counts into the change.
func (a *allowance) settle(c *mapdata.Change) {
	c.Holds, c.Grows, c.AccountLimit = a.mark.Holds, a.grows, a.account
}
