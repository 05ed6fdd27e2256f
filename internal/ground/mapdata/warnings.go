package mapdata

import (
	"math"
	"time"
)

// When the owner of a feed gets an e-mail about trouble, before anything is deactivated.
const (
	WarnAfterFailures = 10             // failed polls in a row; after 20 the feed is deactivated
	WarnAfterSilence  = 24 * time.Hour // without a push

	warnMinRows = 50             // an attempt with fewer rows is too small for a rate of rejections
	warnShare   = 0.2            // increase of the rate of rejections above the usual one
	wellAfter   = 24 * time.Hour // without trouble, before the same trouble causes another e-mail
)

// Warnings are the troubles of a feed about which its owner got an e-mail, with the time at which each was last seen;
// zero: none. Each is reported once until the feed has been well for a day, so that a feed that fails intermittently
// does not cause an e-mail each time.
type Warnings struct {
	Rejections    time.Time
	Failing       time.Time
	Shrank        time.Time
	UsualRejected float64 // share of the rows that is rejected while the feed is well, in whole per cent
}

// Attempted records a good attempt, and returns the e-mails that are due. shrank means that the attempt was a snapshot
// with fewer than half the rows of the one before (D6.9).
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
		w.Shrank = time.Time{} // a shrunken snapshot is a trouble by itself: a later one is reported again
	}
	if note(&w.Shrank, shrank, a.At) {
		begun = append(begun, EmailShrank)
	}
	return begun
}

// Failed records a failed poll, the given number of them in a row, and reports whether an e-mail is due.
func (w *Warnings) Failed(failures int, at time.Time) (begins bool) {
	return failures >= WarnAfterFailures && note(&w.Failing, true, at)
}

// note updates one trouble, and reports whether it begins.
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
