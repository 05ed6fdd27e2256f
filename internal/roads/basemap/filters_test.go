package basemap

import (
	"slices"
	"testing"
)

// TestFiltersForQGIS checks that the filters of areas and lines have only forms that QGIS (3.22) imports. QGIS draws a
// layer with an unknown filter without any filter, so that all roads become motorways.
func TestFiltersForQGIS(t *testing.T) {
	combining := []string{"all", "any", "!"}
	var known func(filter any) bool
	known = func(filter any) bool {
		parts, ok := filter.([]any)
		if !ok || len(parts) < 2 {
			return false
		}
		switch form, _ := parts[0].(string); {
		case slices.Contains(combining, form):
			return !slices.ContainsFunc(parts[1:], func(part any) bool { return !known(part) })
		case form == "has":
			return len(parts) == 2
		case form == "==":
			_, isText := parts[2].(string)
			return isText
		case form == "match":
			_, isList := parts[2].([]string)
			return isList && len(parts) == 5 && parts[3] == true && parts[4] == false
		}
		return false
	}
	for _, road := range []string{"roads", "transportation", "streets", "strange"} {
		layers, _ := archiveWith(t, road).Style(Look{}, Source{Tiles: "x"}, nil)["layers"].([]Layer)
		drawn := 0
		for _, l := range layers {
			if l["type"] != "fill" && l["type"] != "line" {
				continue
			}
			if drawn++; !known(l["filter"]) {
				t.Errorf("%s: the filter of %v is %v", road, l["id"], l["filter"])
			}
		}
		if drawn == 0 {
			t.Errorf("%s: nothing is drawn", road)
		}
	}
}

// TestFirstMemberDecides checks that the first member that a feature has decides, and that a later one counts only if it
// is missing.
func TestFirstMemberDecides(t *testing.T) {
	where := selection{"roads", []string{"kind_detail", "kind"}, []string{"residential", "minor_road"}}
	for name, tt := range map[string]struct {
		feature map[string]string
		want    bool
	}{
		"the first":                      {map[string]string{"kind_detail": "residential", "kind": "minor_road"}, true},
		"the first has another value":    {map[string]string{"kind_detail": "service", "kind": "minor_road"}, false},
		"the second where none is first": {map[string]string{"kind": "minor_road"}, true},
		"the second has another value":   {map[string]string{"kind": "path"}, false},
		"none":                           {nil, false},
	} {
		if got := selects(t, where.member(), tt.feature); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// selects evaluates an expression of member.
func selects(t *testing.T, expression []any, feature map[string]string) bool {
	t.Helper()
	isTrue := func(part any) bool {
		e, _ := part.([]any)
		return selects(t, e, feature)
	}
	switch expression[0] {
	case "any":
		return slices.ContainsFunc(expression[1:], isTrue)
	case "all":
		return !slices.ContainsFunc(expression[1:], func(part any) bool { return !isTrue(part) })
	case "!":
		return !isTrue(expression[1])
	case "has":
		member, _ := expression[1].(string)
		_, ok := feature[member]
		return ok
	case "match":
		get, _ := expression[1].([]any)
		member, _ := get[1].(string)
		values, _ := expression[2].([]string)
		return slices.Contains(values, feature[member])
	}
	t.Fatalf("%v is no expression that is evaluated here", expression)
	return false
}
