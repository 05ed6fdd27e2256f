package jsondoc_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/jsondoc"
)

// object returns the text of an object of n members.
func object(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func faultOf(err error) format.Fault {
	var bad *format.Error
	if errors.As(err, &bad) {
		return bad.Fault
	}
	return ""
}

// ways are the ways in which an object may be read.
var ways = map[string]func(r *jsondoc.Reader) error{
	"a value": func(r *jsondoc.Reader) error { _, err := r.Value(); return err },
	"skipped": func(r *jsondoc.Reader) error { return r.Skip() },
	"read":    func(r *jsondoc.Reader) error { return r.Members(func(string) error { return r.Skip() }) },
}

// TestMembers checks that an object has at most 4 096 members with distinct names, in whatever way it is read.
func TestMembers(t *testing.T) {
	twelve, thirteen := object(12), object(13) // the largest that is compared pairwise, and one more
	for name, read := range ways {
		for text, want := range map[string]format.Fault{
			object(4096): "", object(4097): format.TooLarge,
			strings.TrimSuffix(twelve, "}") + `,"k3":1}`:                         format.BadJSON,
			strings.TrimSuffix(thirteen, "}") + `,"k3":1}`:                       format.BadJSON,
			strings.TrimSuffix(object(4095), "}") + `,"\u006b0":1}`:              format.BadJSON,
			`{"a":0,"\u0061":0}`:                                                 format.BadJSON,
			`{"a":{"a":0,"b":{"a":[{"a":0},{"a":0}]}},"b":0,"c":` + twelve + "}": "",
			`{"x":{"a":0,"b":{"c":0},"a":0}}`:                                    format.BadJSON,
			`{"x":[{"a":0,"b":{"c":0},"a":0}]}`:                                  format.BadJSON,
			`{"a":` + object(4096) + `,"b":` + object(4096) + "}":                "",
		} {
			if err := read(jsondoc.New(strings.NewReader(text), nil)); faultOf(err) != want || err != nil && want == "" {
				t.Errorf("%s, %.60s: %v, want %q", name, text, err, want)
			}
		}
	}
}

// TestMembersOfOneItem checks that an item of a million members is refused before they are kept, which took 264 MB. The
// race detector allocates a third more.
func TestMembersOfOneItem(t *testing.T) {
	text := object(1_000_000)
	for name, read := range ways {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(jsondoc.New(strings.NewReader(text), format.NewBudget(t.Context(), format.MaxWork)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; faultOf(err) != format.TooLarge || took > 128<<20 {
			t.Errorf("%s: %v after %d MiB", name, err, took>>20)
		}
	}
}

// TestItemsOfTooManyParts checks that an item is refused before it holds 32 MiB, because a part takes twelve times as
// much in memory as in the text.
func TestItemsOfTooManyParts(t *testing.T) {
	for n, want := range map[int]format.Fault{900_000: "", 999_998: "", 1_000_000: format.TooLarge} {
		_, err := jsondoc.New(strings.NewReader("["+strings.Repeat("0,", n)+"0]"), format.NewBudget(t.Context(), format.MaxWork)).Value()
		if faultOf(err) != want || err != nil && want == "" {
			t.Errorf("%d parts: %v", n, err)
		}
	}
	long := strings.Repeat("x", 12<<20)
	for n, want := range map[int]format.Fault{700_000: "", 900_000: format.TooLarge} { // 24 bytes each beside 12 MiB and their own text
		_, err := jsondoc.New(strings.NewReader(`["`+long+`"`+strings.Repeat(",0", n)+"]"), format.NewBudget(t.Context(), format.MaxWork)).Value()
		if faultOf(err) != want || err != nil && want == "" {
			t.Errorf("%d parts beside a long text: %v", n, err)
		}
	}
}

// TestSpentBudgetEndsLookups checks that loops over an item find nothing more once the budget is spent.
func TestSpentBudgetEndsLookups(t *testing.T) {
	b := format.NewBudget(t.Context(), format.MaxWork)
	v, err := jsondoc.New(strings.NewReader(`{"a":[1,2,3],"b":"`+strings.Repeat("x", 100)+`"}`), b).Value()
	if err != nil || !v.Get("a").Exists() {
		t.Fatal(err)
	}
	list, text := v.Get("a"), v.Get("b")
	for b.Spend(1_000_000_000) {
	}
	for range list.Elements() {
		t.Error("an element is found")
	}
	for range v.Members() {
		t.Error("a member is found")
	}
	if v.Get("a").Exists() || list.Index(1).Exists() || text.Text() != "" {
		t.Error("something is found")
	}
}
