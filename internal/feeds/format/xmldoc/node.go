package xmldoc

import (
	"bytes"
	"encoding/xml"
	"iter"
	"strings"

	"wayside/internal/feeds/format"
)

// Bounds of an item's tree, which is larger in memory than the text.
const (
	maxNodes = 200_000

	nodeSize  = 56 // bytes
	pieceSize = 12
	attrSize  = 48       // without the texts
	keptBytes = 16 << 20 // of a tree whose memory is kept for the next item
)

// tree is an element with its descendants in document order: a node is followed by the nodes that it contains.
type tree struct {
	budget *format.Budget
	nodes  []node
	texts  []byte // each text once
	pieces []piece
}

type node struct {
	name        string
	attrs       []xml.Attr
	first, last uint32 // pieces of the element's own text, numbered from 1; 0: none
	next        uint32 // the node after the last one that this node contains
}

// piece is a part of an element's own text within texts. Pieces are separated by the text of child elements.
type piece struct {
	start, end uint32
	next       uint32 // the number of the element's next piece; 0: none
}

// Element reads the rest of the current element. The node is valid until the next one is read.
func (r *Reader) Element() (Node, error) {
	t := &r.tree
	t.reset(r.budget)
	open := []uint32{0}
	from := r.dec.InputOffset()
	if !t.open(&r.current) {
		return Node{}, r.wrong(r.budget.Err())
	}
	for len(open) > 0 {
		token, err := r.token()
		if err != nil {
			return Node{}, err
		}
		if r.dec.InputOffset()-from > format.MaxItemBytes || len(t.nodes) == maxNodes {
			return Node{}, r.Error(format.TooLarge)
		}
		within := true
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, uint32(len(t.nodes)))
			within = t.open(&token)
		case xml.EndElement:
			t.nodes[open[len(open)-1]].next = uint32(len(t.nodes))
			open = open[:len(open)-1]
		case xml.CharData:
			within = t.add(&t.nodes[open[len(open)-1]], token)
		}
		if !within {
			return Node{}, r.wrong(r.budget.Err())
		}
	}
	return Node{t, 0, true}, nil
}

// reset prepares the tree for another item. It drops the memory of a large item, so that small ones do not hold it.
func (t *tree) reset(budget *format.Budget) {
	budget.NextItem()
	if cap(t.nodes)*nodeSize+cap(t.texts)+cap(t.pieces)*pieceSize > keptBytes {
		t.nodes, t.texts, t.pieces = nil, nil, nil
	}
	t.budget, t.nodes, t.texts, t.pieces = budget, t.nodes[:0], t.texts[:0], t.pieces[:0]
}

// open appends a node, unless the item would hold too much.
func (t *tree) open(e *xml.StartElement) bool {
	size := nodeSize + len(e.Name.Local)
	for i := range e.Attr {
		size += attrSize + len(e.Attr[i].Name.Local) + len(e.Attr[i].Value)
	}
	if !t.budget.Hold(size) {
		return false
	}
	t.nodes = append(t.nodes, node{name: e.Name.Local, attrs: e.Attr})
	return true
}

// add appends text to a node, unless the item would hold too much. Most texts between elements are white space, which it ignores.
func (t *tree) add(n *node, text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	if !t.budget.Hold(pieceSize + len(text)) {
		return false
	}
	start := uint32(len(t.texts))
	t.texts = append(t.texts, text...)
	end := uint32(len(t.texts))
	if n.last > 0 && t.pieces[n.last-1].end == start {
		t.pieces[n.last-1].end = end
		return true
	}
	t.pieces = append(t.pieces, piece{start: start, end: end})
	at := uint32(len(t.pieces))
	if n.last > 0 {
		t.pieces[n.last-1].next = at
	} else {
		n.first = at
	}
	n.last = at
	return true
}

// text returns the element's own text, with a space between the texts before and after a child element with text. It returns an empty
// string once the budget is spent.
func (t *tree) text(n *node) string {
	if n.first == 0 {
		return ""
	}
	first := &t.pieces[n.first-1]
	if first.next == 0 {
		if !t.budget.Spend(int(first.end-first.start) / bytesCopied) {
			return ""
		}
		return string(bytes.TrimSpace(t.texts[first.start:first.end]))
	}
	size := 0
	for at := n.first; at > 0 && t.budget.Spend(visitWork); at = t.pieces[at-1].next {
		size += 1 + int(t.pieces[at-1].end-t.pieces[at-1].start)
	}
	if !t.budget.Spend(size / bytesCopied) {
		return ""
	}
	joined := make([]byte, 0, size)
	for at := n.first; at > 0; at = t.pieces[at-1].next {
		if at != n.first {
			joined = append(joined, ' ')
		}
		joined = append(joined, t.texts[t.pieces[at-1].start:t.pieces[at-1].end]...)
	}
	return string(bytes.TrimSpace(joined))
}

// Node is an element of an item. The zero Node stands for an absent one.
type Node struct {
	t      *tree
	at     uint32
	exists bool
}

// Exists reports whether the element exists.
func (n Node) Exists() bool { return n.exists }

// Name returns the element's local name.
func (n Node) Name() string {
	if !n.exists {
		return ""
	}
	return n.t.nodes[n.at].name
}

// Attr returns the value of the attribute with the local name.
func (n Node) Attr(local string) string {
	if !n.exists {
		return ""
	}
	return attr(n.t.nodes[n.at].attrs, local)
}

// Type returns the value of xsi:type without its prefix.
func (n Node) Type() string {
	name := n.Attr("type")
	return name[strings.LastIndexByte(name, ':')+1:]
}

// Text returns the element's own text, without the white space around it.
func (n Node) Text() string {
	if !n.exists {
		return ""
	}
	return n.t.text(&n.t.nodes[n.at])
}

// Nodes returns the number of descendants.
func (n Node) Nodes() int {
	if !n.exists {
		return 0
	}
	return int(n.t.nodes[n.at].next - n.at - 1)
}

// Children yields the child elements.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.exists {
			return
		}
		for i := n.at + 1; i < n.t.nodes[n.at].next && n.t.budget.Spend(visitWork); i = n.t.nodes[i].next {
			if !yield(Node{n.t, i, true}) {
				return
			}
		}
	}
}

// First returns the element at a path of first children with these names.
func (n Node) First(path ...string) Node {
	for _, name := range path {
		n = n.first(name)
	}
	return n
}

// first returns the first child with the name.
func (n Node) first(name string) Node {
	if !n.exists {
		return Node{}
	}
	nodes, passed := n.t.nodes, 1
	i, end := n.at+1, n.t.nodes[n.at].next
	for ; i < end && nodes[i].name != name; i = nodes[i].next {
		passed++
	}
	if !n.t.budget.Spend(visitWork*passed) || i >= end {
		return Node{}
	}
	return Node{n.t, i, true}
}

// All yields the children with the name.
func (n Node) All(name string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for child := range n.Children() {
			if child.Name() == name && !yield(child) {
				return
			}
		}
	}
}

// Within yields the descendants with the name, in document order.
func (n Node) Within(name string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.exists {
			return
		}
		for i := n.at + 1; i < n.t.nodes[n.at].next && n.t.budget.Spend(visitWork); i++ {
			if n.t.nodes[i].name == name && !yield(Node{n.t, i, true}) {
				return
			}
		}
	}
}

// Topmost yields the descendants with the name, except those within another one with that name.
func (n Node) Topmost(name string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.exists {
			return
		}
		for i := n.at + 1; i < n.t.nodes[n.at].next && n.t.budget.Spend(visitWork); {
			if n.t.nodes[i].name != name {
				i++
				continue
			}
			if !yield(Node{n.t, i, true}) {
				return
			}
			i = n.t.nodes[i].next
		}
	}
}

// Find returns the first descendant with the name, in document order.
func (n Node) Find(name string) Node {
	if !n.exists {
		return Node{}
	}
	nodes := n.t.nodes
	i, end := n.at+1, n.t.nodes[n.at].next
	for i < end && nodes[i].name != name {
		i++
	}
	if !n.t.budget.Spend(visitWork*int(i-n.at)) || i >= end {
		return Node{}
	}
	return Node{n.t, i, true}
}
