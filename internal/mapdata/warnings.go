package mapdata

import (
	"math"
	"time"
)

// When the owner of a feed is e-mailed about trouble, before anything is deactivated.
const (
	WarnAfterFailures = 10             // failed polls in a row; after 20 the feed is deactivated
	WarnAfterSilence  = 24 * time.Hour // without a push

	warnMinRows = 50             // an attempt with fewer rows says nothing of the share that is rejected
	warnShare   = 0.2            // more of the rows rejected than usual
	wellAfter   = 24 * time.Hour // without trouble, before the same trouble is worth another e-mail
)

// Warnings are the troubles of a feed of which its owner has an e-mail: when each was last seen; zero: the feed is well.
// Each is reported once until the feed has been well for a day, so that a feed that fails by turns sends no e-mail for each
// turn.
type Warnings struct {
	Rejections    time.Time
	Failing       time.Time
	Shrank        time.Time
	UsualRejected float64 // share of the rows that is rejected while the feed is well, in whole per cent
}

// Attempted notes a good attempt, and returns what the owner is e-mailed about. shrank says whether it was a snapshot with
// fewer than half the rows of the one before (D6.9).
func (w *Warnings) Attempted(a *Attempt, shrank bool) (begun []EmailKind) {
	if a.Rows >= warnMinRows {
		share := math.Round(100*float64(a.Rejected)/float64(a.Rows)) / 100
		exact := float64(a.Rejected) / float64(a.Rows)
		if note(&w.Rejections, exact-w.UsualRejected > warnShare-1e-9, a.At) {
			begun = append(begun, EmailRejections)
		}
		if w.Rejections.IsZero() {
			w.UsualRejected = share
		}
	}
	note(&w.Failing, false, a.At)
	if shrank && !w.Shrank.IsZero() && a.At.Sub(w.Shrank) >= wellAfter {
		w.Shrank = time.Time{} // shrinking is over with the snapshot that shrank
	}
	if note(&w.Shrank, shrank, a.At) {
		begun = append(begun, EmailShrank)
	}
	return begun
}

// Failed notes a failed poll, the given number of them in a row, and says whether the owner is e-mailed.
func (w *Warnings) Failed(failures int, at time.Time) (begins bool) {
	return failures >= WarnAfterFailures && note(&w.Failing, true, at)
}

// note moves one trouble, and says whether it begins.
func note(last *time.Time, trouble bool, at time.Time) (begins bool) {
	switch {
	case trouble:
		begins = last.IsZero()
		*last = at
	case !last.IsZero() && at.Sub(*last) >= wellAfter:
		*last = time.Time{}
	}
	return begins
}
