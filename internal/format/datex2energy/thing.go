package datex2energy

import (
	"strings"

	"wayside/internal/format/jsondoc"
	"wayside/internal/format/xmldoc"
)

// thing is an element of a publication, of either form: names without prefixes and with a small first letter.
type thing struct {
	name string
	id   string
	typ  string // of XML: xsi:type, with a small first letter; JSON has an element within instead
	text string
	kids []thing
}

// prefixes stand before names in JSON, where XML has namespaces.
var prefixes = [...]string{"aegi", "egi", "locx", "loc", "afac", "fac", "com", "prk"}

// plainName is a name without its prefix, with a small first letter.
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

func fromXML(n xmldoc.Node) thing {
	t := thing{name: small(n.Name()), id: n.Attr("id"), typ: small(n.Type()), text: n.Text()}
	for child := range n.Children() {
		t.kids = append(t.kids, fromXML(child))
	}
	return t
}

// fromJSON gives the things that a member stands for: an array stands for its elements.
func fromJSON(name string, v jsondoc.Value, to []thing) []thing {
	t := thing{name: name}
	switch v.Kind() {
	case '[':
		for element := range v.Elements() {
			to = fromJSON(name, element, to)
		}
		return to
	case '{':
		for member, value := range v.Members() {
			switch {
			case member == "idG" || member == "id" && t.id == "":
				t.id = value.Text()
			case member == "value" && value.Kind() != '{' && value.Kind() != '[':
				t.text = value.Text()
				t.kids = append(t.kids, thing{name: member, text: t.text})
			default:
				t.kids = fromJSON(plainName(member), value, t.kids)
			}
		}
	default:
		t.text = v.Text()
	}
	return append(to, t)
}

// kid is the first child of a name; nil: there is none.
func (t *thing) kid(name string) *thing {
	if t == nil {
		return nil
	}
	for i := range t.kids {
		if t.kids[i].name == name {
			return &t.kids[i]
		}
	}
	return nil
}

// find is the first thing of a name within, however deep.
func (t *thing) find(name string) *thing {
	if t == nil {
		return nil
	}
	for i := range t.kids {
		if t.kids[i].name == name {
			return &t.kids[i]
		}
		if found := t.kids[i].find(name); found != nil {
			return found
		}
	}
	return nil
}

// each calls do with all things of a name within, however deep.
func (t *thing) each(name string, do func(*thing)) {
	for i := range t.kids {
		if t.kids[i].name == name {
			do(&t.kids[i])
		}
		t.kids[i].each(name, do)
	}
}

// words is the text of a thing, or of the first of its texts in several languages.
func (t *thing) words() string {
	switch {
	case t == nil:
		return ""
	case t.text != "":
		return t.text
	}
	return t.find("value").own()
}

func (t *thing) own() string {
	if t == nil {
		return ""
	}
	return t.text
}
