package index

import "wayside/internal/ground/mapdata"

// Staged is a version that is built and not published yet, so that no reader sees it. One that is never published
// leaves the index unchanged.
type Staged struct {
	ix      *Index
	version *version
	writer  *writer
	undo    *undo // nil: a load, which has its own writer
	moves   moves
	touched mapdata.Touched
}

// Publish makes the staged version visible to searches and returns where it changed. It must be the index's last staged
// version, and not be published yet.
func (s *Staged) Publish() mapdata.Touched {
	if s.ix.staged != s {
		panic("index: published a version that was replaced or published before")
	}
	s.moves.apply(s.version)
	s.ix.current.Store(s.version)
	s.ix.writer, s.ix.staged = s.writer, nil
	return s.touched
}

// Counts returns the result that Index.Counts will have once the version is published.
func (s *Staged) Counts(id mapdata.FeedID) (persistent, decaying int) {
	place, ok := s.version.places[id]
	if !ok {
		return 0, 0
	}
	f, n := s.version.feeds[place], s.moves.counts[place]
	return int(f.persistent.Load()) + n.persistent, int(f.decaying.Load()) + n.decaying
}

// dropStaged reverts a staged change that was never published.
func (ix *Index) dropStaged() {
	if ix.staged != nil && ix.staged.undo != nil {
		ix.staged.undo.roll(ix.writer, ix.current.Load())
	}
	ix.staged = nil
}

// moves are the updates that are made in place when a version is published.
type moves struct {
	snapshots []snapshotMove
	seen      []seenMove
	tallies   map[uint32]*mapdata.Tally // by number
	votes     []voteMove
	counts    map[uint32]counts // by place of the feed
}

type snapshotMove struct {
	feed *feed
	at   int64
}

type seenMove struct {
	slot *slot
	at   int64
}

// voteMove assigns the number of a tally to a slot.
type voteMove struct {
	slot   *slot
	ref    ref // of the slot
	number uint32
}

// counts is the change of a feed's numbers of entities.
type counts struct{ persistent, decaying int }

func newMoves() moves {
	return moves{tallies: make(map[uint32]*mapdata.Tally), counts: make(map[uint32]counts)}
}

// apply makes the updates. It stores tallies before the slots that name them.
func (m *moves) apply(v *version) {
	for number, t := range m.tallies {
		v.tallies.set(number, t)
	}
	for _, vote := range m.votes {
		vote.slot.tally.Store(vote.number)
	}
	for _, seen := range m.seen {
		seen.slot.seen.Store(seen.at)
	}
	for _, snapshot := range m.snapshots {
		snapshot.feed.snapshotAt.Store(snapshot.at)
	}
	for place, n := range m.counts {
		f := v.feeds[place]
		f.persistent.Add(int64(n.persistent))
		f.decaying.Add(int64(n.decaying))
	}
}
