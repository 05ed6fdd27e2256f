package geocode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wayside/internal/roads/geocode"
	"wayside/internal/roads/roadtest"
)

// TestLongNames checks that words up to the twelfth of a query decide.
func TestLongNames(t *testing.T) {
	x := drawn(t, roadtest.Map(t, 100, "a-b c-d",
		roadtest.Way("ab", "highway=residential, name=Road of the Seven Very Old and Tall Stone Houses North"),
		roadtest.Way("cd", "highway=residential, name=Road of the Seven Very Old and Tall Stone Houses South")))
	for _, last := range []string{"North", "South"} {
		if got := labels(x.ask("road of the seven very old and tall stone houses " + last)[:1]); !strings.HasSuffix(got, last) {
			t.Errorf("%s: %q", last, got)
		}
	}
}

// TestSameFeatures checks that features of one name and kind are one result if they lie within 150 m.
func TestSameFeatures(t *testing.T) {
	for metres, want := range map[float64]int{100: 1, 140: 1, 160: 2, 500: 2} {
		x := drawn(t, roadtest.Map(t, metres, "ab", roadtest.Way("ab", "highway=residential, name=Elsewhere"),
			roadtest.Node("a", "highway=bus_stop, name=Harbour"), roadtest.Node("b", "highway=bus_stop, name=Harbour")))
		if got := x.ask("harbour"); len(got) != want {
			t.Errorf("%v m apart: %s, want %d", metres, labels(got), want)
		}
	}
}

// TestHousesWithoutStreet checks that a house whose address names no street belongs to the nearest named road within 80 m.
func TestHousesWithoutStreet(t *testing.T) {
	for metres, want := range map[float64]string{40: "Main Street 7", 75: "Main Street 7", 85: "Main Street", 400: "Main Street"} {
		x := drawn(t, roadtest.Map(t, metres, `
			a--b--c
			   d
		`, roadtest.Way("abc", "highway=residential, name=Main Street"), roadtest.Node("d", "addr:housenumber=7")))
		if got := labels(x.ask("main street 7")[:1]); got != want {
			t.Errorf("%v m away: %q, want %q", metres, got, want)
		}
	}
}

// TestCrossingsAreBounded checks that streets that meet five times have three crossings in an answer.
func TestCrossingsAreBounded(t *testing.T) {
	x := drawn(t, roadtest.Map(t, 100, `
		a-b-c-d-e
		 f g h i
	`, roadtest.Way("abcde", "highway=residential, name=Straight Street"), roadtest.Way("afbgchdie", "highway=residential, name=Winding Road")))
	if got := x.ask("straight street & winding road"); len(got) != 3 {
		t.Errorf("crossings: %s, want three", labels(got))
	}
}

// TestPairsOfStreetsAreBounded checks that the first twelve pairs of streets are looked at for a crossing.
func TestPairsOfStreetsAreBounded(t *testing.T) {
	found := 0
	for pair := range 36 {
		ways := []roadtest.Object{}
		for i := range 6 {
			one, other := string(rune('a'+i)), string(rune('m'+i))
			if i == pair/6 {
				one += "z"
			}
			if i == pair%6 {
				other += "z"
			}
			ways = append(ways, roadtest.Way(one+string(rune('g'+i)), fmt.Sprintf("highway=residential, name=Alpha Street%s", strings.Repeat(" Long", i))),
				roadtest.Way(other+string(rune('s'+i)), fmt.Sprintf("highway=residential, name=Beta Road%s", strings.Repeat(" Wide", i))))
		}
		x := drawn(t, roadtest.Map(t, 100, `
			a b c d e f . m n o p q r
			. . . . . . z . . . . . .
			s t u v w x . g h i j k l
		`, ways...))
		if slices.ContainsFunc(x.ask("alpha & beta"), func(r geocode.Result) bool { return len(r.Other) > 0 }) {
			found++
		}
	}
	if found != 12 {
		t.Errorf("%d of 36 pairs were looked at, want 12", found)
	}
}
