package osmpbf

import (
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// encoder is the block that a Writer fills: objects of one type.
type encoder struct {
	options *WriterOptions
	kind    Types
	objects int

	texts   []byte            // the string table as it is written, without its first, empty string
	numbers map[string]uint64 // of the strings in the table, from 1

	group []byte // plain nodes, ways or relations

	// Dense nodes.
	ids, lats, lngs, tags []byte
	tagged                bool
	last                  [3]int64 // previous id, latitude and longitude
}

// bytes estimates the length of the block.
func (e *encoder) bytes() int {
	return len(e.texts) + len(e.group) + len(e.ids) + len(e.lats) + len(e.lngs) + len(e.tags)
}

// message encodes the block.
func (e *encoder) message() []byte {
	// String 0 ends the tags of a dense node, so it cannot represent a text.
	table := append(appendText(nil, 1<<3|asBytes, ""), e.texts...)
	group := e.group
	if len(e.ids) > 0 {
		dense := appendArray(nil, denseIDs, e.ids)
		dense = appendArray(dense, denseLats, e.lats)
		dense = appendArray(dense, denseLngs, e.lngs)
		if e.tagged {
			dense = appendArray(dense, denseTags, e.tags)
		}
		group = appendBytes(nil, groupDense, dense)
	}
	block := appendBytes(nil, pbTexts, table)
	block = appendBytes(block, pbGroup, group)
	if e.options.Granularity != defaultGranularity {
		block = appendNumber(block, pbStep, uint64(e.options.Granularity))
	}
	if e.options.LatOffset != 0 {
		block = appendNumber(block, pbLatOffset, uint64(e.options.LatOffset))
	}
	if e.options.LngOffset != 0 {
		block = appendNumber(block, pbLngOffset, uint64(e.options.LngOffset))
	}
	return block
}

// text returns the number of a string, in order of first use.
func (e *encoder) text(s string) uint64 {
	n, known := e.numbers[s]
	if known {
		return n
	}
	if e.numbers == nil {
		e.numbers = make(map[string]uint64)
	}
	n = uint64(len(e.numbers)) + 1
	e.numbers[s] = n
	e.texts = appendText(e.texts, 1<<3|asBytes, s)
	return n
}

func (e *encoder) node(n Node) {
	lat := e.round(n.Lat, e.options.LatOffset)
	lng := e.round(n.Lng, e.options.LngOffset)
	if e.options.PlainNodes {
		message := appendNumber(nil, objectID, protowire.EncodeZigZag(n.ID))
		message = e.appendTags(message, n.Tags)
		message = appendNumber(message, nodeLat, protowire.EncodeZigZag(lat))
		message = appendNumber(message, nodeLng, protowire.EncodeZigZag(lng))
		e.group = appendBytes(e.group, groupNode, message)
		return
	}
	e.ids = protowire.AppendVarint(e.ids, protowire.EncodeZigZag(n.ID-e.last[0]))
	e.lats = protowire.AppendVarint(e.lats, protowire.EncodeZigZag(lat-e.last[1]))
	e.lngs = protowire.AppendVarint(e.lngs, protowire.EncodeZigZag(lng-e.last[2]))
	e.last = [3]int64{n.ID, lat, lng}
	for _, t := range n.Tags {
		e.tags = protowire.AppendVarint(e.tags, e.text(t.Key))
		e.tags = protowire.AppendVarint(e.tags, e.text(t.Value))
		e.tagged = true
	}
	e.tags = append(e.tags, 0)
}

// round returns the number of steps from the offset to the nearest representable position.
func (e *encoder) round(position, offset int64) int64 {
	from, step := position-offset, int64(e.options.Granularity)
	number, rest := from/step, from%step
	switch {
	case 2*rest >= step:
		number++
	case -2*rest >= step:
		number--
	}
	return number
}

func (e *encoder) way(w Way) {
	message := appendNumber(nil, objectID, uint64(w.ID))
	message = e.appendTags(message, w.Tags)
	var refs []byte
	var last int64
	for _, ref := range w.Refs {
		refs = protowire.AppendVarint(refs, protowire.EncodeZigZag(ref-last))
		last = ref
	}
	e.group = appendBytes(e.group, groupWay, appendArray(message, wayRefs, refs))
}

func (e *encoder) relation(r Relation) {
	message := appendNumber(nil, objectID, uint64(r.ID))
	message = e.appendTags(message, r.Tags)
	var roles, refs, types []byte
	var last int64
	for _, m := range r.Members {
		roles = protowire.AppendVarint(roles, e.text(m.Role))
		refs = protowire.AppendVarint(refs, protowire.EncodeZigZag(m.Ref-last))
		types = protowire.AppendVarint(types, uint64(bits.TrailingZeros8(uint8(m.Type))))
		last = m.Ref
	}
	message = appendArray(message, relationRoles, roles)
	message = appendArray(message, relationRefs, refs)
	e.group = appendBytes(e.group, groupRelation, appendArray(message, relationTypes, types))
}

// appendTags appends keys and values, each as an array.
func (e *encoder) appendTags(message []byte, tags Tags) []byte {
	var keys, values []byte
	for _, t := range tags {
		keys = protowire.AppendVarint(keys, e.text(t.Key))
		values = protowire.AppendVarint(values, e.text(t.Value))
	}
	return appendArray(appendArray(message, objectKeys, keys), objectValues, values)
}

// appendArray appends a packed array as a field of that number, unless it is empty.
func appendArray(message []byte, number uint64, array []byte) []byte {
	if len(array) == 0 {
		return message
	}
	return appendBytes(message, number<<3|asBytes, array)
}
