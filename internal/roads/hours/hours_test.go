package hours_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"wayside/internal/roads/hours"
)

// written returns spans as "day hh:mm-hh:mm", days from 0 on.
func written(week []hours.Span) string {
	var all []string
	for _, s := range week {
		all = append(all, fmt.Sprintf("%d %02d:%02d+%d", s.From/1440, s.From%1440/60, s.From%60, s.To-s.From))
	}
	return strings.Join(all, ", ")
}

// TestParse checks the weeks of texts, and that everything else is refused.
func TestParse(t *testing.T) {
	const refused = "refused"
	for text, want := range map[string]string{
		"24/7":                           "0 00:00+10080",
		"00:00-24:00":                    "0 00:00+10080",
		"Mo-Su 00:00-24:00":              "0 00:00+10080",
		"Mo-Fr 08:00-20:00":              "0 08:00+720, 1 08:00+720, 2 08:00+720, 3 08:00+720, 4 08:00+720",
		"Mo-We 08:00-20:00; Tu off":      "0 08:00+720, 2 08:00+720",
		"Mo 08:00-12:00,14:00-18:00":     "0 08:00+240, 0 14:00+240",
		"Mo 08:00-12:00, 14:00-18:00":    "0 08:00+240, 0 14:00+240",
		"Mo,We 9:00-10:00":               "0 09:00+60, 2 09:00+60",
		"Mo 08:00-12:00, Tu 09:00-10:00": "0 08:00+240, 1 09:00+60",
		"Mo 08:00-12:00, Mo 14:00-15:00": "0 08:00+240, 0 14:00+60",
		"Mo 08:00-12:00; Mo 14:00-15:00": "0 14:00+60",
		"Mo: 08:00-12:00;":               "0 08:00+240",
		"Mo 08:00–12:00":                 "0 08:00+240",
		"Sa-Mo 10:00-11:00":              "0 10:00+60, 5 10:00+60, 6 10:00+60",
		"Fr 22:00-03:00":                 "4 22:00+300",
		"Su 22:00-03:00":                 "6 22:00+300",
		"Su 22:00-03:00; Mo 02:00-04:00": "6 22:00+360",
		"Fr 22:00-27:00":                 "4 22:00+300",
		"Mo 00:00-24:00; Tu 00:00-12:00": "0 00:00+2160",
		"10:00-11:00; Mo-Sa off":         "6 10:00+60",
		"Mo off":                         "",
		"Mo 09:00-10:00; PH off":         "0 09:00+60",
		"Mo 09:00-10:00; PH 10:00-11:00": "0 09:00+60",
		"Mo 09:00-10:00; Su,PH closed":   "0 09:00+60",
		"Mo-Fr 07:00-21:30; Sa 07:30-14:00; Su,PH 07:30-13:00, 17:30-00:30": "0 07:00+870, 1 07:00+870, 2 07:00+870, 3 07:00+870, 4 07:00+870, 5 07:30+390, 6 07:30+330, 6 17:30+420",

		"": refused, ";": refused, "Mo": refused, "PH off": refused, "Mo-Fr": refused, "open": refused, "09:00": refused, "09:00-": refused, "-09:00": refused,
		"Mo-Su 12:00+": refused, "sunrise-22:00": refused, "Mo 08:00-sunset": refused, "Oct-Apr: 06:30-21:00": refused, "May 09:00-10:00": refused,
		"Mo[1] 09:00-10:00": refused, "SH off": refused, "Mo 09:00-10:00; SH off": refused, "Dec 25 off": refused, "week 1-10 Mo 09:00-10:00": refused,
		`Mo 09:00-10:00 "by appointment"`: refused, "Mo 09:00-10:00 || Tu 09:00-10:00": refused, "Mo 25:00-26:00": refused, "Mo 09:60-10:00": refused, "Mo 9-10": refused,
		"Mo 09:00-49:00": refused, "Mo 09:00-34:00": refused, "Monday 09:00-10:00": refused, "mo 09:00-10:00": refused, "Mo 09:00-10:00,": refused, "Mo 09:00-10:00 Tu": refused,
		"Mo-Fr 08:00-12:00; unknown": refused, "24/7; Mo 08:00-bla": refused, "24/7 closed": refused, "Mo-Xx 09:00-10:00": refused, "Mo,Xx 09:00-10:00": refused, "Tuesday": refused,
		"Mo 001:00-02:00": refused, strings.Repeat("Mo off;", 30): refused, "Mo 08:00-09:00" + strings.Repeat(" ", 300): refused,
		"Mo " + strings.Repeat("08:00-09:00,", 9) + "10:00-11:00": refused,
	} {
		week, ok := hours.Parse(text)
		got := written(week)
		if !ok {
			got = refused
		}
		if got != want {
			t.Errorf("%.60q is %q instead of %q", text, got, want)
		}
	}
	if text := hours.Text("  24/7 "); text != "24/7" {
		t.Errorf("the text that is kept is %q", text)
	}
	if text := hours.Text("sunrise-sunset"); text != "" {
		t.Errorf("%q is kept", text)
	}
}

// FuzzParse checks that every week is sorted and lies in a week, that its spans do not touch, and that what is kept is
// understood.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"24/7", "Mo-Fr 08:00-12:00, 14:00-18:00; Sa 09:00-01:00; Su,PH off", "Su 22:00-30:00; Mo 02:00-04:00", "Fr-Mo: 9:00–10:00;", "10:00-10:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		week, ok := hours.Parse(text)
		if !ok && week != nil {
			t.Fatalf("%q is refused, and gives %v", text, week)
		}
		for i, s := range week {
			next := hours.Minutes + week[0].From
			if i+1 < len(week) {
				next = week[i+1].From
			}
			whole := len(week) == 1 && s == hours.Span{From: 0, To: hours.Minutes}
			if s.From < 0 || s.From >= hours.Minutes || s.To <= s.From || s.To >= next && !whole {
				t.Fatalf("%q gives %v", text, week)
			}
		}
		if kept := hours.Text(text); (kept != "") != ok && strings.TrimSpace(text) == text {
			t.Fatalf("%q is understood: %v, and kept as %q", text, ok, kept)
		}
		if again, _ := hours.Parse(text); !slices.Equal(again, week) {
			t.Fatalf("%q gives %v, then %v", text, week, again)
		}
	})
}
