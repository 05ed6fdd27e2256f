package mapdata_test

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/ground/mapdata"
)

func TestIDs(t *testing.T) {
	id, err := mapdata.NewFeedID()
	if err != nil {
		t.Fatal(err)
	}
	if id.String()[14] != '7' {
		t.Errorf("%s is no UUIDv7 (D5.1)", id)
	}
	if got, ok := mapdata.ParseFeedID(id.String()); !ok || got != id {
		t.Errorf("%s: its text is parsed as another id", id)
	}
	if got, ok := id.SourceID().FeedID(); !ok || got != id {
		t.Errorf("%s: its source id gives another feed id", id)
	}
	for _, text := range []string{"", "x", "{" + id.String() + "}", "urn:uuid:" + id.String(), "018F4E6A-0000-7000-8000-00000000000A"} {
		if _, ok := mapdata.ParseFeedID(text); ok {
			t.Errorf("%q is taken for a feed id", text)
		}
	}
	if _, ok := mapdata.SourceID("incidents").FeedID(); ok {
		t.Error("a built-in source is taken for a feed's")
	}
}

func TestCompareEntityIDsAgreesWithTheirText(t *testing.T) {
	sources := rapid.SampledFrom([]mapdata.SourceID{"incidents", "feed:a", "feed:b"})
	text := rapid.StringN(1, 20, 256)
	rapid.Check(t, func(t *rapid.T) {
		aSource, bSource := sources.Draw(t, "source a"), sources.Draw(t, "source b")
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := cmp.Compare(mapdata.EntityID(aSource, a), mapdata.EntityID(bSource, b))
		if got := mapdata.CompareEntityIDs(aSource, []byte(a), bSource, []byte(b)); got != want {
			t.Errorf("%q and %q compare as %d, their text as %d", a, b, got, want)
		}
	})
}
