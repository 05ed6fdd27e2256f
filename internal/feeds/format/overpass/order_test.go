package overpass_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawElements draws an answer: relations that share devices, ways and nodes, and each element up to twice, as in the
// answer to a query that asks for members once with their tags and once as a skeleton.
func drawElements(t *rapid.T) (elements []string) {
	id := rapid.IntRange(1, 5)
	form := rapid.IntRange(0, 3)
	for n := 1; n <= 5; n++ {
		tags := rapid.SampledFrom([]string{
			``, `,"tags":{"highway":"speed_camera"}`, `,"tags":{"highway":"speed_camera","maxspeed":"60","direction":"90"}`, `,"tags":{"maxspeed":"30"}`,
		}).Draw(t, "tags of a node")
		bare := fmt.Sprintf(`{"type":"node","id":%d,"lat":%d,"lon":5`, n, 50+n)
		elements = append(elements, each(form.Draw(t, "node"), bare+tags+"}", bare+"}")...)
	}
	for w := 1; w <= 3; w++ {
		a, b := id.Draw(t, "node of a way"), id.Draw(t, "node of a way")
		way := fmt.Sprintf(`{"type":"way","id":%d,"nodes":[%d,%d]}`, w, a, b)
		geometry := fmt.Sprintf(`{"type":"way","id":%d,"geometry":[{"lat":%d,"lon":5},{"lat":%d,"lon":5}]}`, w, 50+a, 50+b)
		elements = append(elements, each(form.Draw(t, "way"), geometry, way)...)
	}
	for r := range rapid.IntRange(0, 4).Draw(t, "relations") {
		word := rapid.SampledFrom([]string{"maxspeed", "traffic_signals", "average_speed", "access"}).Draw(t, "enforcement")
		limit := rapid.SampledFrom([]string{"", `,"maxspeed":"50"`, `,"maxspeed":"70","direction":"180"`}).Draw(t, "limit")
		var members []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			kind := rapid.SampledFrom([]string{"node", "way"}).Draw(t, "member")
			role := rapid.SampledFrom([]string{"device", "from", "section", ""}).Draw(t, "role")
			members = append(members, fmt.Sprintf(`{"type":%q,"ref":%d,"role":%q}`, kind, id.Draw(t, "ref"), role))
		}
		elements = append(elements, fmt.Sprintf(`{"type":"relation","id":%d,"tags":{"type":"enforcement","enforcement":%q%s},"members":[%s]}`, r+1, word, limit, strings.Join(members, ",")))
	}
	return elements
}

// each returns none of two forms of an element, one of them, or both.
func each(form int, first, second string) []string {
	return [][]string{{first}, {second}, {first, second}, nil}[form]
}

// TestOrder checks that the order of elements does not matter, and that the nodes and ways of a relation may occur
// anywhere.
func TestOrder(t *testing.T) {
	items := func(t *rapid.T, elements []string) string {
		items, err := convert(`{"elements":[` + strings.Join(elements, ",") + `]}`)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, item := range items {
			all = append(all, fmt.Sprintf("%s %v %s %s %s", item.Row, item.Line, item.Skip, item.Word, item.ID))
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		elements := drawElements(t)
		want := items(t, elements)
		if got := items(t, rapid.Permutation(elements).Draw(t, "order")); got != want {
			t.Fatalf("in another order:\n%s\nis not\n%s", got, want)
		}
	})
}

// TestElementsThatAreThereTwice checks that of an element that occurs twice the tags count, and the geometry rather
// than the nodes, in either order.
func TestElementsThatAreThereTwice(t *testing.T) {
	const camera, skeleton = `{"type":"node","id":1,"lat":51,"lon":5,"tags":{"maxspeed":"60","direction":"90"}}`, `{"type":"node","id":1,"lat":51,"lon":5}`
	const nodes, geometry = `{"type":"way","id":3,"nodes":[1,2]}`, `{"type":"way","id":3,"geometry":[{"lat":51,"lon":5},{"lat":53,"lon":5}]}`
	const relations = `{"type":"node","id":2,"lat":52,"lon":5},{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"maxspeed"},"members":[{"type":"node","ref":1,"role":"device"}]},` +
		`{"type":"relation","id":2,"tags":{"type":"enforcement","enforcement":"average_speed"},"members":[{"type":"node","ref":1,"role":"from"},{"type":"way","ref":3,"role":"section"}]}`
	for _, elements := range [][]string{{camera, skeleton, nodes, geometry}, {skeleton, camera, geometry, nodes}} {
		items, err := convert(`{"elements":[` + strings.Join(elements, ",") + "," + relations + `]}`)
		if err != nil || len(items) != 2 {
			t.Fatal(items, err)
		}
		if want := `"properties":{"bearing":90,"maxspeed_kmh":60}`; !strings.Contains(string(items[0].Row), want) {
			t.Errorf("%s: %s, want %s", elements, items[0].Row, want)
		}
		if line := items[1].Line; len(line) != 2 || line[1].Lat != 53 {
			t.Errorf("%s: %v, want the way's geometry", elements, line)
		}
	}
}
