package datex2energy

import (
	"slices"
	"strings"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/feeds/format/xmldoc"
)

// tree is an element of a publication with its descendants, of either form, in document order: a part is followed by
// the parts that it contains. The next item reuses it.
type tree struct {
	budget *format.Budget
	parts  []part
	names  map[string]string // of JSON, with their plain forms: documents repeat few names
}

// part is one element. Names have no prefix and a small first letter.
type part struct {
	name     string
	next     int    // the part after the last one that this part contains
	typ      string // of XML: xsi:type with a small first letter; in JSON an inner element stands for it
	id, text word
}

// Bounds of a tree, which is larger in memory than the reader's.
const (
	partSize  = 104 // bytes
	partWork  = 100 // nanoseconds of a part
	visitWork = 3   // of a part that a lookup visits
)

// add appends a part. It returns false, and the document is refused, once the item holds more than it may.
func (t *tree) add(p part) bool {
	if !t.budget.Spend(partWork) || !t.budget.Hold(partSize+len(p.text.text)) {
		return false
	}
	t.parts = append(t.parts, p)
	return true
}

// visit counts a part that a lookup visits. It returns false once the budget is spent, and lookups find nothing.
func (t *tree) visit() bool { return t.budget.Spend(visitWork) }

// word is a text. A text of JSON is unescaped only when it is used.
type word struct {
	text string
	json jsondoc.Value
}

func (w word) String() string {
	if w.json.Exists() {
		return w.json.Text()
	}
	return w.text
}

// prefixes precede names in JSON, in place of XML namespaces.
var prefixes = [...]string{"aegi", "egi", "locx", "loc", "afac", "fac", "com", "prk"}

// plainName strips the prefix of a name and lower-cases the first letter.
func plainName(name string) string {
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			name = rest
			break
		}
	}
	return small(name)
}

func small(name string) string {
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return name
	}
	return string(name[0]|0x20) + name[1:]
}

// maxNames bounds the number of names that a tree keeps.
const maxNames = 1000

// plain returns plainName of a name, and remembers the result.
func (t *tree) plain(name string) string {
	if plain, known := t.names[name]; known {
		return plain
	}
	plain := plainName(name)
	if len(t.names) < maxNames {
		t.names[name] = plain
	}
	return plain
}

// ofXML builds the tree of an element.
func (t *tree) ofXML(n xmldoc.Node) thing {
	t.parts = slices.Grow(t.parts[:0], min(1+n.Nodes(), t.budget.Room()/partSize))
	t.addXML(n)
	return thing{t, 0}
}

func (t *tree) addXML(n xmldoc.Node) {
	at := len(t.parts)
	if !t.add(part{name: small(n.Name()), typ: small(n.Type()), id: word{text: n.Attr("id")}, text: word{text: n.Text()}}) {
		return
	}
	for child := range n.Children() {
		t.addXML(child)
	}
	t.parts[at].next = len(t.parts)
}

// ofJSON builds the tree of an object.
func (t *tree) ofJSON(name string, v jsondoc.Value) thing {
	t.parts = slices.Grow(t.parts[:0], min(1+v.Parts(), t.budget.Room()/partSize)) // growing step by step would leave several times as much
	t.addJSON(name, v)
	return thing{t, 0}
}

// addJSON appends the parts of a member: an array stands for its elements.
func (t *tree) addJSON(name string, v jsondoc.Value) {
	at := len(t.parts)
	switch v.Kind() {
	case '[':
		for element := range v.Elements() {
			t.addJSON(name, element)
		}
		return
	case '{':
		if !t.add(part{name: name}) {
			return
		}
		for member, value := range v.Members() {
			switch {
			case member == "idG" || member == "id" && t.parts[at].id.String() == "":
				t.parts[at].id.json = value
			case member == "value" && value.Kind() != '{' && value.Kind() != '[':
				t.parts[at].text.json = value
				t.add(part{name: member, next: len(t.parts) + 1, text: word{json: value}})
			default:
				t.addJSON(t.plain(member), value)
			}
		}
	default:
		if !t.add(part{name: name, text: word{json: v}}) {
			return
		}
	}
	t.parts[at].next = len(t.parts)
}

// thing is a part of a tree. The zero thing stands for an absent one.
type thing struct {
	tree *tree
	at   int
}

func (t thing) exists() bool { return t.tree != nil }

func (t thing) part() *part { return &t.tree.parts[t.at] }

// id returns the thing's own id, or an empty string.
func (t thing) id() string {
	if !t.exists() {
		return ""
	}
	return t.part().id.String()
}

// kid returns the first child with the name.
func (t thing) kid(name string) thing {
	if !t.exists() {
		return thing{}
	}
	parts := t.tree.parts
	for i, end := t.at+1, parts[t.at].next; i < end && t.tree.visit(); i = parts[i].next {
		if parts[i].name == name {
			return thing{t.tree, i}
		}
	}
	return thing{}
}

// find returns the first descendant with the name.
func (t thing) find(name string) thing {
	if !t.exists() {
		return thing{}
	}
	for i, end := t.at+1, t.part().next; i < end && t.tree.visit(); i++ {
		if t.tree.parts[i].name == name {
			return thing{t.tree, i}
		}
	}
	return thing{}
}

// each calls do with all descendants of a name, except those within another descendant of the name.
func (t thing) each(name string, do func(thing)) {
	if !t.exists() {
		return
	}
	for i, end := t.at+1, t.part().next; i < end && t.tree.visit(); {
		if t.tree.parts[i].name != name {
			i++
			continue
		}
		do(thing{t.tree, i})
		i = t.tree.parts[i].next
	}
}

// words returns the text of a thing, or the first of its texts in several languages.
func (t thing) words() string {
	if own := t.own(); own != "" {
		return own
	}
	return t.find("value").own()
}

func (t thing) own() string {
	if !t.exists() {
		return ""
	}
	return t.part().text.String()
}
