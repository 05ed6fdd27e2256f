package datex2_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/datex2"
)

// spent converts one situation with the given number of records, and returns the rows and the counted work.
func spent(t *testing.T, header string, records int, place func(i int) string) (rows int, skipped map[format.Reason]int, work int64) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<x><situationPublication><situation>" + header)
	for i := range records {
		fmt.Fprintf(&b, `<situationRecord xsi:type="Accident" id="%d"><groupOfLocations><pointCoordinates>%s</pointCoordinates></groupOfLocations></situationRecord>`, i, place(i))
	}
	b.WriteString("</situation></situationPublication></x>")
	o := format.Options{Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Budget: format.NewBudget(t.Context(), format.MaxWork)}
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(b.String())), nil }}
	skipped = make(map[format.Reason]int)
	_, err := datex2.Convert(d, &o, func(item format.Item) error {
		if item.Skip == "" {
			rows++
		} else {
			skipped[item.Skip]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	work, _ = o.Budget.Spent()
	return rows, skipped, work
}

// TestRecordsOfOneSituation converts 28 000 records of one situation. When each record was compared with each other
// one, it took more than 22 s.
func TestRecordsOfOneSituation(t *testing.T) {
	const n = 28_000
	apart := func(i int) string {
		return fmt.Sprintf("<latitude>52.%05d</latitude><longitude>5</longitude>", i)
	}
	together := func(int) string { return "<latitude>52.000004</latitude><longitude>5</longitude>" }
	for name, place := range map[string]func(int) string{"apart": apart, "together": together} {
		rows, skipped, work := spent(t, "", n, place)
		if want := map[string]int{"apart": n, "together": 1}[name]; rows != want || skipped[format.Joined] != n-want {
			t.Errorf("%s: %d rows, %v", name, rows, skipped)
		}
		if work > 1_000_000_000 {
			t.Errorf("%s: %v of work", name, time.Duration(work))
		}
	}
	// The situation's own elements must be read once, however long they are: 4 MiB for each record would be 100 GB.
	header := "<headerInformation><informationStatus>" + strings.Repeat("x", 4<<20) + "</informationStatus></headerInformation>"
	rows, skipped, work := spent(t, header, n, apart)
	if rows != 0 || skipped[format.NotReal] != n || work > 1_000_000_000 {
		t.Errorf("%d rows, %v, %v of work", rows, skipped, time.Duration(work))
	}
}
