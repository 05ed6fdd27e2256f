package osmpbf

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// decoder turns inflated blocks into Blocks.
type decoder struct {
	inflater
	want  Types
	block *Block
	emit  func() error // passes the block on and leaves an empty one

	// Of the block being decoded.
	offset int64
	texts  []string // its string table
	raster raster
}

// raster is a block's encoding of positions: lat = latOffset + step*number, in nanodegrees.
type raster struct {
	step                 int64
	limit                int64 // the largest number that can be multiplied
	latOffset, lngOffset int64
}

func (r *raster) setStep(step int64) { r.step, r.limit = step, math.MaxInt64/step }

// place returns the position of a number. A result beyond int64 becomes the smallest or the largest.
func (r *raster) place(offset, number int64) int64 {
	switch {
	case number > r.limit:
		return math.MaxInt64
	case number < -r.limit:
		return math.MinInt64
	}
	v := number * r.step
	sum := v + offset
	switch {
	case v > 0 && offset > 0 && sum < 0:
		return math.MaxInt64
	case v < 0 && offset < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Fields of a PrimitiveBlock.
const (
	pbTexts     = 1<<3 | asBytes
	pbGroup     = 2<<3 | asBytes
	pbStep      = 17<<3 | asVarint
	pbLatOffset = 19<<3 | asVarint
	pbLngOffset = 20<<3 | asVarint
)

// Fields of a PrimitiveGroup.
const (
	groupNode     = 1<<3 | asBytes
	groupDense    = 2<<3 | asBytes
	groupWay      = 3<<3 | asBytes
	groupRelation = 4<<3 | asBytes
)

// decode decodes the wanted parts of an inflated block, passes them on in one or several Blocks, and returns which types
// the block has.
func (d *decoder) decode(offset int64, message []byte) (Types, error) {
	d.offset = offset
	d.raster = raster{}
	d.raster.setStep(defaultGranularity)
	d.start()
	var found Types
	var texts []byte
	for rest := message; len(rest) > 0; {
		f, after, err := next(rest)
		if err != nil {
			return 0, err
		}
		rest = after
		switch f.tag {
		case pbTexts:
			if texts != nil {
				return 0, errors.New("it has two string tables")
			}
			texts = f.bytes
		case pbGroup:
			types, err := typesOf(f.bytes)
			if err != nil {
				return 0, err
			}
			found |= types
		case pbStep:
			if f.value == 0 || f.value > math.MaxInt32 {
				return 0, fmt.Errorf("a granularity of %d, and 1 to %d are allowed", int64(f.value), math.MaxInt32)
			}
			d.raster.setStep(int64(f.value))
		case pbLatOffset:
			d.raster.latOffset = int64(f.value)
		case pbLngOffset:
			d.raster.lngOffset = int64(f.value)
		}
	}
	if found&d.want == 0 {
		return found, nil
	}
	if err := d.readTexts(texts); err != nil {
		return 0, err
	}
	if err := d.groups(message); err != nil {
		return 0, err
	}
	if d.block.items > 0 {
		return found, d.emit()
	}
	return found, nil
}

// start begins a Block.
func (d *decoder) start() {
	d.block.reset()
	d.block.Offset = d.offset
}

// added counts an object, and passes the Block on when it is full.
func (d *decoder) added(items int) error {
	d.block.items += 1 + items
	if d.block.items < blockItems {
		return nil
	}
	if err := d.emit(); err != nil {
		return err
	}
	d.start()
	return nil
}

// typesOf returns which types of objects a group has: one, by the format.
func typesOf(group []byte) (found Types, err error) {
	for len(group) > 0 {
		var f field
		if f, group, err = next(group); err != nil {
			return 0, err
		}
		found |= typeOf(f.tag)
	}
	return found, nil
}

func typeOf(tag uint64) Types {
	switch tag {
	case groupNode, groupDense:
		return Nodes
	case groupWay:
		return Ways
	case groupRelation:
		return Relations
	}
	return 0 // changesets and future types
}

// readTexts reads a string table. Its texts are substrings of a single string.
func (d *decoder) readTexts(message []byte) error {
	whole := string(message)
	d.texts = d.texts[:0]
	if len(message) > keptTexts {
		// Growing step by step would create several times as much garbage.
		count, err := countTexts(message)
		if err != nil {
			return err
		}
		d.texts = make([]string, 0, count)
	}
	for rest := message; len(rest) > 0; {
		f, after, err := next(rest)
		if err != nil {
			return fmt.Errorf("string table: %w", err)
		}
		rest = after
		if f.tag != 1<<3|asBytes {
			continue
		}
		end := len(whole) - len(rest)
		d.texts = append(d.texts, whole[end-len(f.bytes):end])
	}
	return nil
}

// countTexts returns the number of fields of a string table.
func countTexts(message []byte) (count int, err error) {
	for ; len(message) > 0; count++ {
		if _, message, err = next(message); err != nil {
			return 0, fmt.Errorf("string table: %w", err)
		}
		if count == maxStrings {
			return 0, fmt.Errorf("string table: more than %d strings", maxStrings)
		}
	}
	return count, nil
}

// text returns a string of the table.
func (d *decoder) text(index uint64) (string, error) {
	if index >= uint64(len(d.texts)) {
		return "", fmt.Errorf("string %d of a table of %d", int64(index), len(d.texts))
	}
	return d.texts[index], nil
}

func (d *decoder) groups(message []byte) error {
	for len(message) > 0 {
		f, rest, err := next(message)
		if err != nil {
			return err
		}
		message = rest
		if f.tag != pbGroup {
			continue
		}
		if err := d.group(f.bytes); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) group(message []byte) error {
	for len(message) > 0 {
		f, rest, err := next(message)
		if err != nil {
			return err
		}
		message = rest
		if typeOf(f.tag)&d.want == 0 {
			continue
		}
		switch f.tag {
		case groupNode:
			err = d.node(f.bytes)
		case groupDense:
			err = d.dense(f.bytes)
		case groupWay:
			err = d.way(f.bytes)
		case groupRelation:
			err = d.relation(f.bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Fields of DenseNodes, all arrays.
const (
	denseIDs  = 1
	denseLats = 8
	denseLngs = 9
	denseTags = 10
)

// dense decodes nodes whose ids, positions and tags are arrays of differences.
func (d *decoder) dense(message []byte) error {
	var ids, lats, lngs, tags packed
	for len(message) > 0 {
		f, rest, err := next(message)
		if err != nil {
			return fmt.Errorf("dense nodes: %w", err)
		}
		message = rest
		switch f.tag >> 3 {
		case denseIDs:
			err = ids.set(f)
		case denseLats:
			err = lats.set(f)
		case denseLngs:
			err = lngs.set(f)
		case denseTags:
			err = tags.set(f)
		}
		if err != nil {
			return fmt.Errorf("dense nodes: %w", err)
		}
	}
	tagged := len(tags) > 0
	var id, lat, lng int64
	for len(ids) > 0 && len(lats) > 0 && len(lngs) > 0 {
		a, okID := ids.next()
		b, okLat := lats.next()
		c, okLng := lngs.next()
		if !okID || !okLat || !okLng {
			return badNumber("dense nodes")
		}
		id += protowire.DecodeZigZag(a)
		lat += protowire.DecodeZigZag(b)
		lng += protowire.DecodeZigZag(c)
		n := Node{ID: id, Lat: d.raster.place(d.raster.latOffset, lat), Lng: d.raster.place(d.raster.lngOffset, lng)}
		if tagged {
			var err error
			if n.Tags, err = d.denseTags(&tags); err != nil {
				return fmt.Errorf("dense nodes: node %d: %w", id, err)
			}
		}
		d.block.Nodes = append(d.block.Nodes, n)
		if err := d.added(len(n.Tags)); err != nil {
			return err
		}
	}
	if len(ids)+len(lats)+len(lngs) > 0 {
		return errors.New("dense nodes: the arrays of ids, latitudes and longitudes are not equally long")
	}
	if len(tags) > 0 {
		return errors.New("dense nodes: there are tags of more nodes than there are ids")
	}
	return nil
}

// denseTags takes the tags of one node: key, value, key, value, 0.
func (d *decoder) denseTags(tags *packed) (Tags, error) {
	start := len(d.block.tags)
	for {
		if len(*tags) == 0 {
			return nil, errors.New("the array of tags ends early")
		}
		key, ok := tags.next()
		if !ok {
			return nil, badNumber("tags")
		}
		if key == 0 {
			return d.cutTags(start), nil
		}
		if len(*tags) == 0 {
			return nil, errors.New("the array of tags ends with a key")
		}
		value, ok := tags.next()
		if !ok {
			return nil, badNumber("tags")
		}
		if err := d.addTag(start, key, value); err != nil {
			return nil, err
		}
	}
}

// addTag appends a tag to those of the object whose tags begin at start.
func (d *decoder) addTag(start int, key, value uint64) error {
	k, err := d.text(key)
	if err != nil {
		return err
	}
	v, err := d.text(value)
	if err != nil {
		return err
	}
	if len(d.block.tags)-start == maxItems {
		return fmt.Errorf("more than %d tags", maxItems)
	}
	d.block.tags = append(d.block.tags, Tag{k, v})
	return nil
}

// cutTags returns the tags from start on.
func (d *decoder) cutTags(start int) Tags {
	end := len(d.block.tags)
	if start == end {
		return nil
	}
	return d.block.tags[start:end:end]
}

// tags decodes tags that are stored as an array of keys and an array of values.
func (d *decoder) tags(keys, values packed) (Tags, error) {
	start := len(d.block.tags)
	for len(keys) > 0 && len(values) > 0 {
		k, okKey := keys.next()
		v, okValue := values.next()
		if !okKey || !okValue {
			return nil, badNumber("tags")
		}
		if err := d.addTag(start, k, v); err != nil {
			return nil, err
		}
	}
	if len(keys)+len(values) > 0 {
		return nil, errors.New("the arrays of keys and values are not equally long")
	}
	return d.cutTags(start), nil
}
