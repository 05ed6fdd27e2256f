package formattest

import (
	"fmt"
	"strings"
)

// Times concatenates n texts, each made from its number.
func Times(n int, between string, one func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(one(i))
	}
	return b.String()
}

// Repeat concatenates the same text n times.
func Repeat(n int, between, one string) string {
	return Times(n, between, func(int) string { return one })
}

// items returns a document of n equal items.
func (f *Form) items(n int, item string) string {
	return f.Begin + Repeat(n, f.Between, item) + f.End
}

// Inner returns a shape of one item with something in it n times.
func (f *Form) Inner(name string, n int, inner func(n int) string) Shape {
	return Shape{Name: f.Name + " " + name, N: n, Document: func(n int) string { return f.items(1, f.Item("x", inner(n))) }}
}

// text returns a shape of one item with a text n characters long, or n times a part.
func (f *Form) text(name string, n int, part string) Shape {
	return Shape{Name: f.Name + " " + name, N: n, Document: func(n int) string { return f.items(1, f.Item(strings.Repeat(part, n), "")) }}
}

// many returns a shape of n items.
func (f *Form) many(name string, n int, item string) Shape {
	return Shape{Name: f.Name + " " + name, N: n, Document: func(n int) string { return f.items(n, item) }}
}

// Sizes of smaller documents.
const (
	bytes = 24 << 10 // of one text
	parts = 4000     // of one item
	items = 150
)

// shapes returns the shapes that all formats of a form share.
func (f *Form) shapes() []Shape {
	all := []Shape{
		f.text("long word", bytes, "x"), f.text("many words", bytes/2, "x "), f.text("long word of two bytes", bytes/2, "\u00e9"),
		f.text("broken tags", bytes/6, "&lt;a "), f.many("many rows", items, f.Item("x", "")),
		f.many("many long texts", 20, f.Item(strings.Repeat("x ", 2000), "")),
	}
	switch f.Name {
	case "JSON":
		return append(all, f.jsonShapes()...)
	case "XML":
		return append(all, f.xmlShapes()...)
	}
	return append(all, f.csvShapes()...)
}

func (f *Form) jsonShapes() []Shape {
	const levels = 60
	deep := `,"zz":` + strings.Repeat("[", levels) + strings.Repeat("]", levels)
	deepObjects := `,"zz":` + strings.Repeat(`{"a":`, levels) + "0" + strings.Repeat("}", levels)
	member := func(i int) string { return fmt.Sprintf(`"k%d":0`, i) }
	return []Shape{
		f.text("tags", bytes/4, "<a "), f.text("escapes", bytes/2, `\n`), f.text("escaped characters", bytes/6, `\u0061`),
		f.many("deep arrays", items, f.Item("x", deep)), f.many("deep objects", items, f.Item("x", deepObjects)),
		f.many("objects of many members", 10, f.Item("x", `,"zz":{`+Times(1000, ",", member)+"}")),
		f.many("objects of few members", items, f.Item("x", Times(20, "", func(i int) string { return fmt.Sprintf(`,"zz%d":{"a":0,"b":1,"c":2}`, i) }))),
		f.Inner("width", parts, func(n int) string { return `,"zz":[` + Repeat(n, ",", "0") + "]" }),
		f.Inner("empty objects", parts, func(n int) string { return `,"zz":[` + Repeat(n, ",", "{}") + "]" }),
		f.Inner("long name", bytes, func(n int) string { return `,"` + strings.Repeat("z", n) + `":0` }),
		f.Inner("large and small objects in turns", 20, func(n int) string {
			return `,"zz":[` + Repeat(n, ",", "{"+Times(200, ",", member)+"},{"+Times(20, ",", member)+"}") + "]"
		}),
		{Name: "JSON members of the item", N: 500, Document: func(n int) string { return f.items(1, f.Item("x", ","+Times(n, ",", member))) }},
		{Name: "JSON not items", N: parts, Document: func(n int) string { return f.items(n, "0") }},
		{Name: "JSON empty items", N: parts, Document: func(n int) string { return f.items(n, "{}") }},
		{Name: "JSON white space", N: bytes, Document: func(n int) string { return f.items(1, strings.Repeat(" ", n)+f.Item("x", "")) }},
	}
}

func (f *Form) xmlShapes() []Shape {
	const levels = 60
	deep := strings.Repeat("<zz>", levels) + strings.Repeat("</zz>", levels)
	attrs := func(n int) string {
		return "<zz" + Times(n, "", func(i int) string { return fmt.Sprintf(` a%d=""`, i) }) + "/>"
	}
	return []Shape{
		f.Inner("mixed text", 2000, func(n int) string { return Repeat(n, "", "x<zz>y</zz>") }),
		f.text("mixed text where one is read", 2000, "x<zz>y</zz>"),
		f.Inner("mixed text, deep", 100, func(n int) string {
			return Repeat(n, "", strings.Repeat("x<zz>y", 20)+strings.Repeat("</zz>y", 20))
		}),
		f.Inner("width", parts/2, func(n int) string { return Repeat(n, "", "<zz/>") }),
		f.Inner("attributes of many", 20, func(n int) string { return Repeat(n, "", attrs(100)) }),
		f.Inner("attributes of one", 1000, attrs),
		f.many("deep elements", 100, f.Item("x", deep)),
		f.Inner("entities", parts, func(n int) string { return "<zz>" + Repeat(n, "", "&amp;&#65;") + "</zz>" }),
		f.Inner("sections", parts, func(n int) string { return "<zz>" + Repeat(n, "", "<![CDATA[x]]>") + "</zz>" }),
		f.Inner("comments", parts, func(n int) string { return "<zz>" + Repeat(n, "", "x<!-- > -->") + "</zz>" }),
		f.Inner("instructions", parts, func(n int) string { return "<zz>" + Repeat(n, "", "x<?a ?>") + "</zz>" }),
		f.Inner("long name", 4<<10, func(n int) string { return "<" + strings.Repeat("z", n) + "/>" }),
		{Name: "XML elements around items", N: parts, Document: func(n int) string { return f.Begin + Repeat(n, "", "<zz/>") + f.Item("x", "") + f.End }},
	}
}

func (f *Form) csvShapes() []Shape {
	return []Shape{
		f.text("quotes", bytes/2, `""`), f.Inner("cells", 500, func(n int) string { return strings.Repeat(",x", n) }),
		f.many("many cells", 20, f.Item("x", strings.Repeat(",x", 1000))), f.many("empty lines", parts, ""),
		f.Inner("quoted cells", 500, func(n int) string { return strings.Repeat(`,"x""x"`, n) }),
	}
}
