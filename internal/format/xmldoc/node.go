package xmldoc

import (
	"bytes"
	"encoding/xml"
	"iter"
	"strings"

	"wayside/internal/format"
)

// maxNodes is how many elements an item has at most, which are larger in memory than in the text.
const maxNodes = 200_000

// tree is an element with all that is in it, in the order of the text: a node is followed by what it contains.
type tree struct {
	nodes []node
	texts []byte
}

type node struct {
	name       string
	attrs      []xml.Attr
	start, end uint32 // of the element's own text, in texts
	next       uint32 // the node after all that this one contains
}

// Element reads the rest of the current element. The node is valid until the next one is read.
func (r *Reader) Element() (Node, error) {
	t := &r.tree
	t.nodes, t.texts = append(t.nodes[:0], node{name: r.current.Name.Local, attrs: r.current.Attr}), t.texts[:0]
	open := []uint32{0}
	from := r.dec.InputOffset()
	for len(open) > 0 {
		token, err := r.token()
		if err != nil {
			return Node{}, err
		}
		if r.dec.InputOffset()-from > format.MaxItemBytes || len(t.nodes) == maxNodes {
			return Node{}, r.Error(format.TooLarge)
		}
		switch token := token.(type) {
		case xml.StartElement:
			open = append(open, uint32(len(t.nodes)))
			t.nodes = append(t.nodes, node{name: token.Name.Local, attrs: token.Attr})
		case xml.EndElement:
			t.nodes[open[len(open)-1]].next = uint32(len(t.nodes))
			open = open[:len(open)-1]
		case xml.CharData:
			t.add(&t.nodes[open[len(open)-1]], token)
		}
	}
	return Node{t, 0, true}, nil
}

// add adds text to a node. Between elements there is most often nothing but white space.
func (t *tree) add(n *node, text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	if n.end > n.start && int(n.end) != len(t.texts) { // text of an element within came between
		start := len(t.texts)
		t.texts = append(append(t.texts, t.texts[n.start:n.end]...), ' ')
		n.start = uint32(start)
	} else if n.end == n.start {
		n.start = uint32(len(t.texts))
	}
	t.texts = append(t.texts, text...)
	n.end = uint32(len(t.texts))
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
	one := &n.t.nodes[n.at]
	return string(bytes.TrimSpace(n.t.texts[one.start:one.end]))
}

// Children are the elements directly in this one.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.exists {
			return
		}
		for i := n.at + 1; i < n.t.nodes[n.at].next; i = n.t.nodes[i].next {
			if !yield(Node{n.t, i, true}) {
				return
			}
		}
	}
}

// First is the first child of the first child … of these names.
func (n Node) First(path ...string) Node {
next:
	for _, name := range path {
		for child := range n.Children() {
			if child.Name() == name {
				n = child
				continue next
			}
		}
		return Node{}
	}
	return n
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
		for i := n.at + 1; i < n.t.nodes[n.at].next; i++ {
			if n.t.nodes[i].name == name && !yield(Node{n.t, i, true}) {
				return
			}
		}
	}
}

// Find is the first element of a name in this one, however deep.
func (n Node) Find(name string) Node {
	for found := range n.Within(name) {
		return found
	}
	return Node{}
}
