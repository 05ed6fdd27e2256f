package index

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// forgetVotes deletes the votes on entities that the index does not hold, if the newest of them was before the given
// time and no curator hides the entity until later. Otherwise memory would grow with all votes ever cast. Nothing may
// be staged.
func (ix *Index) forgetVotes(before time.Time) {
	ix.dropStaged()
	w, v := ix.writer, ix.current.Load()
	w.unused, w.forgotten = append(w.unused, w.forgotten...), nil // freed a sweep ago: no search lasts that long
	var p pace
	for key, number := range w.votes {
		p.row(1)
		if t := v.tallies.at(number); t == nil || !t.ChangedAt.Before(before) || !t.HiddenUntil().Before(before) || w.holds(v, key) {
			continue
		}
		delete(w.votes, key)
		v.tallies.set(number, nil)
		w.forgotten = append(w.forgotten, number)
	}
}

// holds reports whether the version holds the entity that a voteKey names.
func (w *writer) holds(v *version, key string) bool {
	var id mapdata.FeedID
	externalID := key[copy(id[:], key):]
	place, known := v.places[id]
	if !known {
		return false
	}
	_, held := w.find(v, place, []byte(externalID))
	return held
}
