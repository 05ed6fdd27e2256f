package mapdata_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// kindNames returns the shortest description of a set of kinds: all, groups and single kinds.
func kindNames(set mapdata.KindSet) string {
	if set == mapdata.AllKinds {
		return "all"
	}
	var names []string
	for _, group := range []string{"alerts", "cameras", "chargers", "traffic"} {
		var of mapdata.KindSet
		var single []string
		for i, info := range mapdata.Kinds() {
			if k := mapdata.Kind(i); info.Group == group {
				of = of.With(k)
				if set.Has(k) {
					single = append(single, "`"+info.ID+"`")
				}
			}
		}
		if set&of == of && len(single) > 1 {
			single = []string{group}
		}
		names = append(names, single...)
	}
	return strings.Join(names, ", ")
}

func formOf(p *mapdata.PropertyInfo) string {
	switch p.Type {
	case mapdata.PropertyNumber:
		return strings.TrimSpace(fmt.Sprintf("number, %g to %g %s", p.Min, p.Max, p.Unit))
	case mapdata.PropertyEnum:
		return "`" + strings.Join(p.Values, "`, `") + "`"
	case mapdata.PropertyTexts:
		return "list of texts"
	case mapdata.PropertyTime:
		return "RFC 3339"
	}
	return string(p.Type)
}

// TestPropertiesAreDocumented compares the table of docs/providers.md with the list.
func TestPropertiesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| property | of | value | meaning |\n| --- | --- | --- | --- |\n"
	for _, p := range mapdata.Properties() {
		want += fmt.Sprintf("| `%s` | %s | %s | %s |\n", p.Name, kindNames(p.Kinds), formOf(&p), p.Meaning)
	}
	_, rest, _ := strings.Cut(string(doc), "<!-- properties: held by a test against the list in the program -->\n")
	got, _, closed := strings.Cut(rest, "<!-- /properties -->")
	if !closed || got != want {
		t.Errorf("docs/providers.md must have this table:\n%s", want)
	}
}
