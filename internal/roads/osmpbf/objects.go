package osmpbf

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields that nodes, ways and relations share. Ids of nodes are zigzag-encoded, those of ways and relations are not.
const (
	objectID = 1<<3 | asVarint
	nodeLat  = 8<<3 | asVarint
	nodeLng  = 9<<3 | asVarint

	// Numbers of arrays.
	objectKeys    = 2
	objectValues  = 3
	wayRefs       = 8
	relationRoles = 8
	relationRefs  = 9
	relationTypes = 10
)

// object holds the fields of the messages of nodes, ways and relations.
type object struct {
	id           uint64
	hasID        bool
	keys, values packed
	more         [3]packed // fields 8 to 10 of ways and relations
	position     [2]uint64 // fields 8 and 9 of nodes
	has          [2]bool
}

// parseObject parses the fields of a node, a way or a relation.
func parseObject(kind Types, message []byte) (o object, err error) {
	for len(message) > 0 {
		var f field
		if f, message, err = next(message); err != nil {
			return o, err
		}
		switch number := f.tag >> 3; {
		case f.tag == objectID:
			o.id, o.hasID = f.value, true
		case number == objectKeys:
			err = o.keys.set(f)
		case number == objectValues:
			err = o.values.set(f)
		case kind == Nodes && (f.tag == nodeLat || f.tag == nodeLng):
			o.position[number-8], o.has[number-8] = f.value, true
		case kind == Ways && number == wayRefs, kind == Relations && number >= relationRoles && number <= relationTypes:
			err = o.more[number-8].set(f)
		}
		if err != nil {
			return o, err
		}
	}
	if !o.hasID {
		return o, errors.New("no id")
	}
	return o, nil
}

// node decodes a node that has a message of its own.
func (d *decoder) node(message []byte) error {
	o, err := parseObject(Nodes, message)
	if err != nil {
		return fmt.Errorf("a node: %w", err)
	}
	id := protowire.DecodeZigZag(o.id)
	if !o.has[0] || !o.has[1] {
		return fmt.Errorf("node %d: no position", id)
	}
	tags, err := d.tags(o.keys, o.values)
	if err != nil {
		return fmt.Errorf("node %d: %w", id, err)
	}
	d.block.Nodes = append(d.block.Nodes, Node{
		ID:   id,
		Lat:  d.raster.place(d.raster.latOffset, protowire.DecodeZigZag(o.position[0])),
		Lng:  d.raster.place(d.raster.lngOffset, protowire.DecodeZigZag(o.position[1])),
		Tags: tags,
	})
	return d.added(len(tags))
}

func (d *decoder) way(message []byte) error {
	o, err := parseObject(Ways, message)
	if err != nil {
		return fmt.Errorf("a way: %w", err)
	}
	id := int64(o.id)
	tags, err := d.tags(o.keys, o.values)
	if err != nil {
		return fmt.Errorf("way %d: %w", id, err)
	}
	start := len(d.block.refs)
	var ref int64
	for refs := o.more[0]; len(refs) > 0; {
		v, ok := refs.next()
		if !ok {
			return badNumber(fmt.Sprintf("way %d: nodes", id))
		}
		if len(d.block.refs)-start == maxItems {
			return fmt.Errorf("way %d: more than %d nodes", id, maxItems)
		}
		ref += protowire.DecodeZigZag(v)
		d.block.refs = append(d.block.refs, ref)
	}
	end := len(d.block.refs)
	d.block.Ways = append(d.block.Ways, Way{ID: id, Refs: d.block.refs[start:end:end], Tags: tags})
	return d.added(len(tags) + end - start)
}

func (d *decoder) relation(message []byte) error {
	o, err := parseObject(Relations, message)
	if err != nil {
		return fmt.Errorf("a relation: %w", err)
	}
	id := int64(o.id)
	tags, err := d.tags(o.keys, o.values)
	if err != nil {
		return fmt.Errorf("relation %d: %w", id, err)
	}
	members, err := d.relationMembers(o.more[0], o.more[1], o.more[2])
	if err != nil {
		return fmt.Errorf("relation %d: members: %w", id, err)
	}
	d.block.Relations = append(d.block.Relations, Relation{ID: id, Members: members, Tags: tags})
	return d.added(len(tags) + len(members))
}

func (d *decoder) relationMembers(roles, refs, types packed) ([]Member, error) {
	start := len(d.block.members)
	var ref int64
	for len(roles) > 0 && len(refs) > 0 && len(types) > 0 {
		a, okRole := roles.next()
		b, okRef := refs.next()
		c, okType := types.next()
		if !okRole || !okRef || !okType {
			return nil, badNumber("arrays")
		}
		if c > 2 {
			return nil, fmt.Errorf("one is of type %d, and 0 to 2 are known", int64(c))
		}
		role, err := d.text(a)
		if err != nil {
			return nil, err
		}
		if len(d.block.members)-start == maxItems {
			return nil, fmt.Errorf("more than %d", maxItems)
		}
		ref += protowire.DecodeZigZag(b)
		d.block.members = append(d.block.members, Member{Ref: ref, Role: role, Type: Nodes << c})
	}
	if len(roles)+len(refs)+len(types) > 0 {
		return nil, errors.New("the arrays of roles, references and types are not equally long")
	}
	end := len(d.block.members)
	return d.block.members[start:end:end], nil
}
