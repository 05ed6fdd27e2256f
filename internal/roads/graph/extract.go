package graph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"wayside/internal/roads/car"
	"wayside/internal/roads/osmpbf"
)

// extract is the part of the files that Build keeps: ways that a car can drive, the nodes on them, and restrictions.
type extract struct {
	profile *car.Profile
	workers int
	counts  *Counts

	ways         []road
	drives       []car.Way // the distinct values for all ways
	driveOf      map[car.Way]uint32
	refs         []int64  // of all ways, until positions are known
	at           []uint32 // refs as indexes of nodes
	texts        texts
	waySigns     signTable
	restrictions []restriction
	maneuvers    []maneuver
	nodes        nodeTable
}

// road is a way that a car can drive.
type road struct {
	first, count uint32 // its references
	carriage
	way Way
}

// carriage is what a car may do on a way. Millions of ways share some hundred values of drive.
type carriage struct {
	drive uint32 // index in extract.drives
	flags Flags
}

// restriction is a relation that concerns cars.
type restriction struct {
	id      int64
	outcome car.Outcome
	via     uint32 // the graph's node: see findViaNodes
	car.Restriction
}

// Bounds against files that become far larger in memory than they are: a real extract has at least ten bytes for each
// reference of a road.
const (
	referencesPerByte = 1
	freeReferences    = 1 << 20
)

func (x *extract) read(ctx context.Context, files []*osmpbf.File) error {
	var allowed int64 = freeReferences
	for _, f := range files {
		allowed += f.Size() * referencesPerByte
	}
	var ways, relations, nodes idCounter
	x.texts, x.waySigns, x.driveOf = newTexts(), newSignTable(), map[car.Way]uint32{}
	for _, f := range files {
		o := osmpbf.Options{Want: osmpbf.Ways | osmpbf.Relations, Workers: x.workers}
		err := osmpbf.Map(ctx, f, o, x.readWays, func(batch *wayBatch) error {
			ways.add(batch.wayIDs)
			relations.add(batch.relationIDs)
			if int64(len(x.refs)+len(batch.refs)+len(x.ways)+len(batch.ways)) > allowed {
				return fmt.Errorf("%w: its roads have more than %d nodes, which is more than %d bytes of extract can mean", ErrTooLarge, allowed, allowed-freeReferences)
			}
			return x.addWays(batch)
		})
		if err != nil {
			return err
		}
	}
	x.driveOf = nil
	x.ways = firstOfEach(x.ways, func(r *road) int64 { return r.way.OSM })
	x.maneuvers = firstOfEach(x.maneuvers, func(m *maneuver) int64 { return m.id })
	x.restrictions = firstOfEach(x.restrictions, func(r *restriction) int64 { return r.id })
	x.dropRepeatedReferences()
	if err := fits("ways and relations", len(x.ways)+len(x.restrictions)); err != nil {
		return err
	}
	x.nodes.want(x.refs)
	for _, f := range files {
		o := osmpbf.Options{Want: osmpbf.Nodes, Workers: x.workers}
		err := osmpbf.Map(ctx, f, o, x.readNodes, func(batch *nodeBatch) error {
			nodes.add(batch.ids)
			x.nodes.add(batch, x.counts)
			return nil
		})
		if err != nil {
			return err
		}
	}
	x.nodes.sortSigns()
	x.counts.Nodes, x.counts.Ways, x.counts.Relations = nodes.count(), ways.count(), relations.count()
	x.place()
	return nil
}

// wayBatch is the result of reading the ways and relations of one block.
type wayBatch struct {
	wayIDs, relationIDs []int64
	ways                []road
	drives              []car.Way  // of each way
	texts               []wayTexts // of each way
	lanes               []wayLanes // of each way
	refs                []int64
	restrictions        []restriction
	maneuvers           []maneuver
	invalidManeuvers    int
}

// readWays reads the ways and relations of a block. It is called concurrently.
func (x *extract) readWays(block *osmpbf.Block) (*wayBatch, error) {
	batch := &wayBatch{wayIDs: make([]int64, len(block.Ways)), relationIDs: make([]int64, len(block.Relations))}
	var tags car.Tags
	for i := range block.Ways {
		w := &block.Ways[i]
		batch.wayIDs[i] = w.ID
		if !isRoad(w.Tags) {
			continue
		}
		tags = carTags(tags, w.Tags)
		drive, ok := x.profile.Way(tags)
		if !ok {
			continue
		}
		r := road{first: uint32(len(batch.refs)), count: uint32(len(w.Refs))}
		r.flags, r.way = describe(x.profile, tags, &drive)
		r.way.OSM = w.ID
		batch.refs = append(batch.refs, w.Refs...)
		batch.ways = append(batch.ways, r)
		batch.drives = append(batch.drives, drive)
		batch.texts = append(batch.texts, textsOf(tags, &drive))
		batch.lanes = append(batch.lanes, lanesOf(tags, &drive))
	}
	for i := range block.Relations {
		batch.relationIDs[i] = block.Relations[i].ID
		tags = batch.relation(&block.Relations[i], tags)
	}
	return batch, nil
}

// relation keeps the relation if it is a restriction or a maneuver. tags is a buffer.
func (batch *wayBatch) relation(r *osmpbf.Relation, tags car.Tags) car.Tags {
	kind, _ := r.Tags.Get("type")
	switch {
	case strings.HasPrefix(kind, "restriction"):
		tags = carTags(tags, r.Tags)
		parsed, outcome := car.ParseRestriction(tags, carMembers(r.Members))
		if outcome != car.NoRestriction {
			batch.restrictions = append(batch.restrictions, restriction{id: r.ID, outcome: outcome, Restriction: parsed})
		}
	case kind == "maneuver", kind == "manoeuvre":
		tags = carTags(tags, r.Tags)
		if m, _, ok := car.ParseManeuver(tags, carMembers(r.Members)); ok {
			batch.maneuvers = append(batch.maneuvers, maneuver{r.ID, m})
		} else {
			batch.invalidManeuvers++
		}
	}
	return tags
}

func isRoad(tags osmpbf.Tags) bool {
	for i := range tags {
		if (tags[i].Key == "highway" || tags[i].Key == "route") && tags[i].Value != "" {
			return true
		}
	}
	return false
}

// carTags fills a buffer with tags converted to the type of package car.
func carTags(into car.Tags, tags osmpbf.Tags) car.Tags {
	into = into[:0]
	for i := range tags {
		into = append(into, car.Tag(tags[i]))
	}
	return into
}

func carMembers(members []osmpbf.Member) []car.Member {
	all := make([]car.Member, len(members))
	for i, m := range members {
		kind := car.NodeMember
		switch m.Type {
		case osmpbf.Ways:
			kind = car.WayMember
		case osmpbf.Relations:
			kind = car.RelationMember
		}
		all[i] = car.Member{Kind: kind, Ref: m.Ref, Role: m.Role}
	}
	return all
}

func (x *extract) addWays(batch *wayBatch) error {
	if err := fits("references of roads", len(x.refs)+len(batch.refs)); err != nil {
		return err
	}
	shift := uint32(len(x.refs))
	x.refs = append(x.refs, batch.refs...)
	for i := range batch.ways {
		r := batch.ways[i]
		r.first += shift
		r.drive = x.numberDrive(&batch.drives[i])
		var signs Signs
		text, lanes := &batch.texts[i], &batch.lanes[i]
		x.store(text.name, &r.way.Name)
		x.store(text.ref, &r.way.Ref)
		x.store(text.destination, &signs.Destination)
		x.store(text.exit, &signs.Exit)
		x.store(text.pronunciation, &signs.Pronunc)
		r.way.Signs = x.waySigns.add(signs, &lanes.lanes)
		x.leaveOut(invalidLanes, lanes.invalid)
		x.leaveOut(disagreeingLanes, lanes.disagreeing)
		x.ways = append(x.ways, r)
	}
	x.restrictions = append(x.restrictions, batch.restrictions...)
	x.maneuvers = append(x.maneuvers, batch.maneuvers...)
	x.leaveOut(invalidManeuvers, batch.invalidManeuvers)
	return fits("bytes of names", len(x.texts.all))
}

// store stores a text, or counts it as left out if it is invalid.
func (x *extract) store(text string, into *TextRange) {
	var ok bool
	if *into, ok = x.texts.add(text); !ok {
		x.leaveOut(invalidTexts, 1)
	}
}

func (x *extract) leaveOut(reason string, count int) {
	if count > 0 {
		x.counts.LeftOut[reason] += count
	}
}

// numberDrive returns the index of a drive in x.drives, adding it if necessary.
func (x *extract) numberDrive(drive *car.Way) uint32 {
	index, ok := x.driveOf[*drive]
	if !ok {
		index = uint32(len(x.drives))
		x.drives = append(x.drives, *drive)
		x.driveOf[*drive] = index
	}
	return index
}

// dropRepeatedReferences drops consecutive duplicates of a node in a way (D15.3), and closes the gaps left by duplicate
// ways.
func (x *extract) dropRepeatedReferences() {
	refs := x.refs[:0]
	if !slices.IsSortedFunc(x.ways, func(a, b road) int { return cmp.Compare(a.first, b.first) }) {
		refs = make([]int64, 0, len(x.refs))
	}
	for i := range x.ways {
		w := &x.ways[i]
		first := len(refs)
		for _, ref := range x.refs[w.first : w.first+w.count] {
			if len(refs) == first || refs[len(refs)-1] != ref {
				refs = append(refs, ref)
			}
		}
		w.first, w.count = uint32(first), uint32(len(refs)-first)
	}
	x.refs = refs
}

// place replaces references by indexes of nodes, or None for nodes that the files lack.
func (x *extract) place() {
	x.at = make([]uint32, len(x.refs))
	for i, ref := range x.refs {
		index, _ := slices.BinarySearch(x.nodes.ids, ref)
		if !x.nodes.has(uint32(index)) {
			x.counts.LeftOut[missingNodes]++
			index = None
		}
		x.at[i] = uint32(index)
	}
	x.refs = nil
}

// nodeTable holds the positions of the nodes on roads.
type nodeTable struct {
	ids   []int64 // sorted
	at    []Position
	signs []sign // sorted by node
	exits []exit
}

// sign is the effect of a node on cars.
type sign struct {
	index uint32
	node  car.Node
}

// nowhere is the position of nodes that the files lack.
var nowhere = Position{math.MinInt32, math.MinInt32}

func (t *nodeTable) want(refs []int64) {
	ids := slices.Clone(refs)
	slices.Sort(ids)
	t.ids = slices.Clone(slices.Compact(ids)) // much smaller than the original, because ways share most of their nodes
	t.at = slices.Repeat([]Position{nowhere}, len(t.ids))
}

func (t *nodeTable) has(index uint32) bool { return t.at[index] != nowhere }

// nodeBatch is the result of reading the nodes of one block.
type nodeBatch struct {
	ids      []int64
	placed   []placed
	signs    []sign
	exits    []exit
	offGlobe int
}

type placed struct {
	index uint32
	at    Position
}

// readNodes reads the nodes of a block. It is called concurrently.
func (x *extract) readNodes(block *osmpbf.Block) (*nodeBatch, error) {
	batch := &nodeBatch{ids: make([]int64, len(block.Nodes))}
	var tags car.Tags
	ids, from := x.nodes.ids, 0
	for i := range block.Nodes {
		n := &block.Nodes[i]
		batch.ids[i] = n.ID
		at, wanted := findFrom(ids, from, n.ID)
		from = at
		if !wanted {
			continue
		}
		if !n.Point().Valid() {
			batch.offGlobe++
			continue
		}
		index := uint32(at)
		batch.placed = append(batch.placed, placed{index, Position{Lng: tenMillionths(n.Lng), Lat: tenMillionths(n.Lat)}})
		if len(n.Tags) == 0 {
			continue
		}
		tags = carTags(tags, n.Tags)
		if node := x.profile.Node(tags); node != (car.Node{}) {
			batch.signs = append(batch.signs, sign{index, node})
		}
		if e, ok := exitOf(n.Tags); ok {
			e.index = index
			batch.exits = append(batch.exits, e)
		}
	}
	return batch, nil
}

// findFrom is a binary search that is fast if the id lies shortly after the previous one, as in sorted files.
func findFrom(ids []int64, from int, id int64) (int, bool) {
	if from > 0 && ids[from-1] >= id {
		return slices.BinarySearch(ids, id)
	}
	step := 1
	for from+step < len(ids) && ids[from+step] < id {
		from += step
		step *= 2
	}
	at, ok := slices.BinarySearch(ids[from:min(from+step+1, len(ids))], id)
	return from + at, ok
}

// tenMillionths rounds nanodegrees to units of 1e-7 degrees.
func tenMillionths(nano int64) int32 {
	if nano < 0 {
		return int32((nano - 50) / 100)
	}
	return int32((nano + 50) / 100)
}

// add adds the nodes of a batch, and keeps the first version of a node that occurs several times.
func (t *nodeTable) add(batch *nodeBatch, counts *Counts) {
	if batch.offGlobe > 0 {
		counts.LeftOut[offGlobe] += batch.offGlobe
	}
	signs, exits := batch.signs, batch.exits
	for _, p := range batch.placed {
		s, e := sign{index: p.index}, exit{}
		if len(signs) > 0 && signs[0].index == p.index {
			s, signs = signs[0], signs[1:]
		}
		if len(exits) > 0 && exits[0].index == p.index {
			e, exits = exits[0], exits[1:]
		}
		if t.has(p.index) {
			continue
		}
		t.at[p.index] = p.at
		if s.node != (car.Node{}) {
			t.signs = append(t.signs, s)
		}
		if e != (exit{}) {
			t.exits = append(t.exits, e)
		}
	}
}

func (t *nodeTable) sortSigns() {
	slices.SortFunc(t.signs, func(a, b sign) int { return int(a.index) - int(b.index) })
	slices.SortFunc(t.exits, func(a, b exit) int { return int(a.index) - int(b.index) })
}
