package xmldoc

import (
	"bytes"
	"encoding/xml"
	"iter"
	"strings"

	"wayside/internal/format"
)

// Bounds of an item's tree, which is larger in memory than the text.
const (
	maxNodes = 200_000

	nodeSize  = 56 // bytes
	pieceSize = 12
	attrSize  = 48       // without the texts
	keptBytes = 16 << 20 // of a tree whose room is kept for the next item
)

// tree is an element with all that is in it, in the order of the text: a node is followed by what it contains.
type tree struct {
	budget *format.Budget
	nodes  []node
	texts  []byte // each text once
	pieces []piece
}

type node struct {
	name        string
	attrs       []xml.Attr
	first, last uint32 // pieces of the element's own text, by their numbers from 1; 0: there is none
	next        uint32 // the node after all that this one contains
}

// piece is a part of an element's own text, in texts: where elements within have text, theirs stands between.
type piece struct {
	start, end uint32
	next       uint32 // number of the next one of the element; 0: it is the last
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

// reset begins another item. The room of a large one is not kept for small ones.
func (t *tree) reset(budget *format.Budget) {
	budget.NextItem()
	if cap(t.nodes)*nodeSize+cap(t.texts)+cap(t.pieces)*pieceSize > keptBytes {
		t.nodes, t.texts, t.pieces = nil, nil, nil
	}
	t.budget, t.nodes, t.texts, t.pieces = budget, t.nodes[:0], t.texts[:0], t.pieces[:0]
}

// open adds a node, unless the item would hold too much.
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

// add adds text to a node, unless the item would hold too much. Between elements there is most often nothing but white space.
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

// text is the element's own text; once the budget is spent, there is none. What stood before and behind an element with text is parted by a space.
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

// Node is an element of an item. The zero Node stands for one that is absent.
type Node struct {
	t      *tree
	at     uint32
	exists bool
}

// Exists says whether there is such an element.
func (n Node) Exists() bool { return n.exists }

// Name is the element's local name.
func (n Node) Name() string {
	if !n.exists {
		return ""
	}
	return n.t.nodes[n.at].name
}

// Attr is the value of an attribute, by its local name.
func (n Node) Attr(local string) string {
	if !n.exists {
		return ""
	}
	return attr(n.t.nodes[n.at].attrs, local)
}

// Type is the value of xsi:type without its prefix.
func (n Node) Type() string {
	name := n.Attr("type")
	return name[strings.LastIndexByte(name, ':')+1:]
}

// Text is the element's own text, without the white space around it.
func (n Node) Text() string {
	if !n.exists {
		return ""
	}
	return n.t.text(&n.t.nodes[n.at])
}

// Nodes is how many elements there are within this one, however deep.
func (n Node) Nodes() int {
	if !n.exists {
		return 0
	}
	return int(n.t.nodes[n.at].next - n.at - 1)
}

// Children are the elements directly in this one.
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

// First is the first child of the first child … of these names.
func (n Node) First(path ...string) Node {
	for _, name := range path {
		n = n.first(name)
	}
	return n
}

// first is the first child of a name.
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

// All are the children of a name.
func (n Node) All(name string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for child := range n.Children() {
			if child.Name() == name && !yield(child) {
				return
			}
		}
	}
}

// Within are the elements of a name in this one, however deep, in the order of the text.
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

// Topmost are the elements of a name in this one, however deep, but for those within another of the name.
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

// Find is the first element of a name in this one, however deep.
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
