package format_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"wayside/internal/feeds/format"
)

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse("2006-01-02T15:04Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func check(t *testing.T, name string, got format.Verdict, skip format.Reason, end, again string) {
	t.Helper()
	if got.Skip != skip || skip == "" && !got.End.Equal(instant(t, end)) || !got.Again.Equal(instant(t, again)) {
		t.Errorf("%s: %q until %v, again %v; want %q until %s, again %s", name, got.Skip, got.End.UTC(), got.Again.UTC(), skip, end, again)
	}
}

func TestStartAndEnd(t *testing.T) {
	now := instant(t, "2026-03-01T12:00Z")
	for name, tt := range map[string]struct {
		start, end string
		skip       format.Reason
		ends       string
		again      string
	}{
		"no times":         {},
		"runs":             {"2026-03-01T11:00Z", "2026-03-01T13:00Z", "", "2026-03-01T13:00Z", "2026-03-01T13:00Z"},
		"begins now":       {"2026-03-01T12:00Z", "", "", "", ""},
		"begins later":     {"2026-03-01T12:01Z", "2026-03-01T13:00Z", format.NotYet, "", "2026-03-01T12:01Z"},
		"ends now":         {"", "2026-03-01T12:00Z", format.Ended, "", ""},
		"ended":            {"2026-02-01T12:00Z", "2026-03-01T11:59Z", format.Ended, "", ""},
		"ends before both": {"2026-03-01T14:00Z", "2026-03-01T11:00Z", format.Ended, "", "2026-03-01T14:00Z"},
		"ends first":       {"2026-03-01T14:00Z", "2026-03-01T13:00Z", format.NotYet, "", "2026-03-01T13:00Z"},
	} {
		w := format.When{Start: instant(t, tt.start), End: instant(t, tt.end)}
		check(t, name, w.Judge(now, nil), tt.skip, tt.ends, tt.again)
	}
}

func TestPeriods(t *testing.T) {
	now := instant(t, "2026-03-01T12:00Z")
	period := func(from, until string) format.Period {
		return format.Period{From: instant(t, from), Until: instant(t, until)}
	}
	for name, tt := range map[string]struct {
		end     string
		periods []format.Period
		skip    format.Reason
		ends    string
		again   string
	}{
		"within":                  {"", []format.Period{period("2026-03-01T11:00Z", "2026-03-01T13:00Z")}, "", "2026-03-01T13:00Z", "2026-03-01T13:00Z"},
		"the end first":           {"2026-03-01T12:30Z", []format.Period{period("2026-03-01T11:00Z", "2026-03-01T13:00Z")}, "", "2026-03-01T12:30Z", "2026-03-01T12:30Z"},
		"two that meet":           {"", []format.Period{period("2026-03-01T11:00Z", "2026-03-01T13:00Z"), period("2026-03-01T11:30Z", "2026-03-01T14:00Z")}, "", "2026-03-01T14:00Z", "2026-03-01T13:00Z"},
		"one after the other":     {"", []format.Period{period("2026-03-01T14:00Z", "2026-03-01T15:00Z"), period("2026-03-01T11:00Z", "2026-03-01T13:00Z"), period("2026-03-01T13:00Z", "2026-03-01T14:00Z")}, "", "2026-03-01T15:00Z", "2026-03-01T13:00Z"},
		"a minute between":        {"", []format.Period{period("2026-03-01T11:00Z", "2026-03-01T13:00Z"), period("2026-03-01T13:01Z", "2026-03-01T14:00Z")}, "", "2026-03-01T13:00Z", "2026-03-01T13:00Z"},
		"then open":               {"", []format.Period{period("2026-03-01T13:00Z", ""), period("2026-03-01T11:00Z", "2026-03-01T13:00Z")}, "", "", "2026-03-01T13:00Z"},
		"then none":               {"", []format.Period{period("2026-03-01T12:30Z", "2026-03-01T10:00Z"), period("2026-03-01T11:00Z", "2026-03-01T13:00Z")}, "", "2026-03-01T13:00Z", "2026-03-01T12:30Z"},
		"open":                    {"", []format.Period{period("2026-03-01T11:00Z", "")}, "", "", ""},
		"open from the beginning": {"", []format.Period{period("", "2026-03-01T13:00Z")}, "", "2026-03-01T13:00Z", "2026-03-01T13:00Z"},
		"between":                 {"", []format.Period{period("2026-03-01T10:00Z", "2026-03-01T11:00Z"), period("2026-03-01T13:00Z", "2026-03-01T14:00Z")}, format.NotYet, "", "2026-03-01T13:00Z"},
		"over":                    {"", []format.Period{period("2026-03-01T10:00Z", "2026-03-01T12:00Z")}, format.Ended, "", ""},
	} {
		w := format.When{End: instant(t, tt.end), Periods: tt.periods}
		check(t, name, w.Judge(now, nil), tt.skip, tt.ends, tt.again)
	}
}

// TestHours checks hours through a day and through both changes of clocks in three zones.
func TestHours(t *testing.T) {
	night := format.Hours{Days: format.EveryDay, From: 22 * time.Hour, Until: 6 * time.Hour}
	day := format.Hours{Days: format.EveryDay &^ format.Day(time.Sunday), From: 8 * time.Hour, Until: 17*time.Hour + 30*time.Minute}
	for name, tt := range map[string]struct {
		zone, now string
		hours     format.Hours
		skip      format.Reason
		ends      string
		again     string
	}{
		"before":            {"UTC", "2026-03-02T07:59Z", day, format.NotYet, "", "2026-03-02T08:00Z"},
		"begins":            {"UTC", "2026-03-02T08:00Z", day, "", "2026-03-02T17:30Z", "2026-03-02T17:30Z"},
		"over for today":    {"UTC", "2026-03-02T17:30Z", day, format.NotYet, "", "2026-03-03T08:00Z"},
		"not on Sundays":    {"UTC", "2026-03-01T12:00Z", day, format.NotYet, "", "2026-03-02T08:00Z"},
		"in the evening":    {"UTC", "2026-03-02T23:00Z", night, "", "2026-03-03T06:00Z", "2026-03-03T06:00Z"},
		"past midnight":     {"UTC", "2026-03-02T05:59Z", night, "", "2026-03-02T06:00Z", "2026-03-02T06:00Z"},
		"Amsterdam, winter": {"Europe/Amsterdam", "2026-03-02T21:00Z", night, "", "2026-03-03T05:00Z", "2026-03-03T05:00Z"},
		// Clocks go forward on 29 March 2026 and back on 25 October 2026 in Europe; on 8 March and 1 November in Denver.
		"Amsterdam, the short night": {"Europe/Amsterdam", "2026-03-28T21:30Z", night, "", "2026-03-29T04:00Z", "2026-03-29T04:00Z"},
		"Amsterdam, the long night":  {"Europe/Amsterdam", "2026-10-24T20:30Z", night, "", "2026-10-25T05:00Z", "2026-10-25T05:00Z"},
		"Denver, the short night":    {"America/Denver", "2026-03-08T05:30Z", night, "", "2026-03-08T12:00Z", "2026-03-08T12:00Z"},
		"Denver, the long night":     {"America/Denver", "2026-11-01T04:30Z", night, "", "2026-11-01T13:00Z", "2026-11-01T13:00Z"},
		"Adelaide, forward":          {"Australia/Adelaide", "2026-10-03T13:00Z", night, "", "2026-10-03T19:30Z", "2026-10-03T19:30Z"},
		"Adelaide, back":             {"Australia/Adelaide", "2026-04-04T12:00Z", night, "", "2026-04-04T20:30Z", "2026-04-04T20:30Z"},
		// Chile's clocks skip midnight of 6 September 2026: that day begins at 1 o'clock. On 4 April they show the hour before midnight twice.
		"Santiago, no midnight":   {"America/Santiago", "2026-09-06T05:00Z", format.Hours{Days: format.Day(time.Sunday), Until: 24 * time.Hour}, "", "2026-09-07T03:00Z", "2026-09-07T03:00Z"},
		"Santiago, before it":     {"America/Santiago", "2026-09-06T03:59Z", format.Hours{Days: format.Day(time.Sunday), Until: 24 * time.Hour}, format.NotYet, "", "2026-09-06T04:00Z"},
		"Santiago, over for long": {"America/Santiago", "2026-09-06T05:00Z", format.Hours{Days: format.Day(time.Saturday), Until: 24 * time.Hour}, format.NotYet, "", "2026-09-12T03:00Z"},
		"Santiago, the long hour": {"America/Santiago", "2026-04-05T02:30Z", night, "", "2026-04-05T10:00Z", "2026-04-05T10:00Z"},
		"not before its date":     {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay, From: 8 * time.Hour, Until: 17 * time.Hour, First: instant(t, "2026-05-01T00:00Z")}, format.NotYet, "", "2026-05-01T08:00Z"},
		"on its last date":        {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay, From: 8 * time.Hour, Until: 17 * time.Hour, Last: instant(t, "2026-03-02T00:00Z")}, "", "2026-03-02T17:00Z", "2026-03-02T17:00Z"},
		"after its last date":     {"UTC", "2026-03-03T12:00Z", format.Hours{Days: format.EveryDay, From: 8 * time.Hour, Until: 17 * time.Hour, Last: instant(t, "2026-03-02T00:00Z")}, format.Ended, "", ""},
		"all day":                 {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay, Until: 24 * time.Hour}, "", "", "2026-03-03T00:00Z"},
		"all day, for a week":     {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay, Until: 24 * time.Hour, Last: instant(t, "2026-03-09T00:00Z")}, "", "2026-03-10T00:00Z", "2026-03-03T00:00Z"},
		"all day, until a date":   {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay, Until: 24 * time.Hour, Last: instant(t, "2026-03-04T00:00Z")}, "", "2026-03-05T00:00Z", "2026-03-03T00:00Z"},
		"all day, on weekdays":    {"UTC", "2026-03-02T12:00Z", format.Hours{Days: format.EveryDay &^ format.Day(time.Saturday), Until: 24 * time.Hour}, "", "2026-03-07T00:00Z", "2026-03-03T00:00Z"},
	} {
		w := format.When{Hours: []format.Hours{tt.hours}}
		check(t, name, w.Judge(instant(t, tt.now), zone(t, tt.zone)), tt.skip, tt.ends, tt.again)
	}
	w := format.When{Hours: []format.Hours{night}}
	if got := w.Judge(instant(t, "2026-03-02T23:00Z"), nil); got.Skip != format.Schedule {
		t.Errorf("without a zone: %v", got)
	}
	w.End = instant(t, "2026-03-01T00:00Z")
	if got := w.Judge(instant(t, "2026-03-02T23:00Z"), nil); got.Skip != format.Ended {
		t.Errorf("what ended needs no zone: %v", got)
	}
	w = format.When{Unread: true}
	if got := w.Judge(instant(t, "2026-03-02T23:00Z"), time.UTC); got.Skip != format.Schedule {
		t.Errorf("a schedule that can't be read: %v", got)
	}
}

// TestLayouts compares random instants in each layout that has a parser of its own with time.ParseInLocation.
func TestLayouts(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		at := time.Unix(random.Int64N(4e9), random.Int64N(1e9)).In(berlin)
		for _, layout := range []string{
			time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05.000-0700", "2006-01-02T15:04:05.000", "2006-01-02 15:04",
		} {
			text := at.Format(layout)
			if !strings.Contains(layout, "07") && (at.Add(time.Hour).Format(layout) == text || at.Add(-time.Hour).Format(layout) == text) {
				continue // the clocks show it twice
			}
			want, err := time.ParseInLocation(layout, text, berlin)
			if got := format.Time(text, berlin); err != nil || !got.Equal(want) {
				t.Fatalf("%s: %v, want %v (%v)", text, got, want.UTC(), err)
			}
		}
	}
	for _, text := range []string{"2026-01-02T15:04:05+01", "2026-01-02T15:04:05+01000", "2026-01-02T15:04:05ZZ", "2026-01-02T25:04:05", "2026-02-30T15:04:05+0100"} {
		if got := format.Time(text, berlin); !got.IsZero() {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestSchedulesApart checks two schedules half a year apart, between which the clocks change, and of which one begins at a time that they
// skip.
func TestSchedulesApart(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	over := format.Hours{Days: format.EveryDay, From: 10 * time.Hour, Until: 11 * time.Hour, Last: instant(t, "2026-06-30T00:00Z")}
	spring := format.Hours{Days: format.EveryDay, From: 2*time.Hour + 30*time.Minute, Until: 4 * time.Hour, First: instant(t, "2027-03-28T00:00Z")}
	winter := format.Hours{Days: format.EveryDay, From: 8 * time.Hour, Until: 9 * time.Hour, First: instant(t, "2026-12-01T00:00Z")}
	autumn := format.Hours{Days: format.EveryDay, From: 9 * time.Hour, Until: 10 * time.Hour, First: instant(t, "2026-07-03T00:00Z")}
	now := instant(t, "2026-07-01T12:00Z")
	for name, tt := range map[string]struct {
		hours []format.Hours
		again string
	}{
		"later":   {[]format.Hours{over, spring}, "2027-03-28T01:30Z"},
		"earlier": {[]format.Hours{winter, autumn}, "2026-07-03T07:00Z"},
		"between": {[]format.Hours{spring, winter}, "2026-12-01T07:00Z"},
	} {
		w := format.When{Hours: tt.hours}
		check(t, name, w.Judge(now, berlin), format.NotYet, "", tt.again)
	}
}

// TestShown checks the clocks of a zone for each quarter of an hour of two years.
func TestShown(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"} {
		z := zone(t, name)
		for clock := time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC); clock.Year() < 2020; clock = clock.Add(15 * time.Minute) {
			got := format.Shown(clock, z)
			local := got.In(z)
			_, offset := local.Zone()
			switch shown := clock.Sub(got); {
			case shown == time.Duration(offset)*time.Second: // the first instant that shows it
				if _, before := got.Add(-30 * time.Minute).In(z).Zone(); before > offset && got.Add(-time.Duration(before-offset)*time.Second).In(z).Format(time.DateTime) == local.Format(time.DateTime) {
					t.Errorf("%s in %s: %v is the second", clock.Format(time.DateTime), name, got)
				}
			default: // skipped: read by the offset before
				if _, before := got.Add(-3 * time.Hour).In(z).Zone(); shown != time.Duration(before)*time.Second {
					t.Errorf("%s in %s: %v", clock.Format(time.DateTime), name, got)
				}
			}
		}
	}
}

func TestTimes(t *testing.T) {
	amsterdam := zone(t, "Europe/Amsterdam")
	for text, want := range map[string]string{
		"2026-03-01T12:00:00Z": "2026-03-01T12:00Z", "2026-03-01T12:00:00+02:00": "2026-03-01T10:00Z", "2026-03-01T12:00:00.123Z": "2026-03-01T12:00Z",
		"2026-03-01T12:00:00": "2026-03-01T11:00Z", "2026-07-01T12:00:00": "2026-07-01T10:00Z", "2026-03-01": "2026-02-28T23:00Z",
		"2026-03-01T12:00:00+0200": "2026-03-01T10:00Z", "2026-03-01T12:00Z": "2026-03-01T12:00Z", "2026-03-01 12:00": "2026-03-01T11:00Z",
		"OVERALL_START_TIME": "", "": "", "0001-01-01T00:00:00Z": "", "2026-13-01T00:00:00Z": "", "9999-12-31T23:59:59Z": "9999-12-31T23:59Z", "tomorrow at noon": "",
	} {
		if got := format.Time(text, amsterdam).Truncate(time.Minute); !got.Equal(instant(t, want)) {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	if got := format.Time("2026-03-01T12:00:00", nil); !got.Equal(instant(t, "2026-03-01T12:00Z")) {
		t.Error("without a zone:", got)
	}
	// A time that clocks skip is read by the offset before; of a time that they show twice the first counts.
	for _, tt := range []struct{ zone, text, want string }{
		{"Europe/Amsterdam", "2026-03-29T01:59:00", "2026-03-29T00:59Z"},
		{"Europe/Amsterdam", "2026-03-29T02:30:00", "2026-03-29T01:30Z"},
		{"Europe/Amsterdam", "2026-03-29T03:00:00", "2026-03-29T01:00Z"},
		{"Europe/Amsterdam", "2026-10-25T01:59:00", "2026-10-24T23:59Z"},
		{"Europe/Amsterdam", "2026-10-25T02:30:00", "2026-10-25T00:30Z"},
		{"Europe/Amsterdam", "2026-10-25T03:00:00", "2026-10-25T02:00Z"},
		{"America/Denver", "2026-03-08T02:30:00", "2026-03-08T09:30Z"},
		{"America/Denver", "2026-11-01T01:30:00", "2026-11-01T07:30Z"},
		{"America/Denver", "2026-11-01T02:00:00", "2026-11-01T09:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00Z"},
		{"America/Santiago", "2026-04-04T23:30:00", "2026-04-05T02:30Z"},
		{"America/Santiago", "2026-04-05", "2026-04-05T04:00Z"},
		{"Australia/Sydney", "2026-10-04T02:30:00", "2026-10-03T16:30Z"},
		{"Australia/Sydney", "2026-04-05T02:30:00", "2026-04-04T15:30Z"},
		{"Australia/Sydney", "2026-04-05T03:00:00", "2026-04-04T17:00Z"},
		{"Pacific/Kiritimati", "2026-03-01", "2026-02-28T10:00Z"},
		{"Pacific/Pago_Pago", "2026-03-01", "2026-03-01T11:00Z"},
	} {
		if got := format.Time(tt.text, zone(t, tt.zone)); !got.Equal(instant(t, tt.want)) {
			t.Errorf("%s in %s: %v, want %s", tt.text, tt.zone, got, tt.want)
		}
	}
	for text, want := range map[string]time.Duration{"18:30": 18*time.Hour + 30*time.Minute, "06:00:05Z": 6*time.Hour + 5*time.Second, "24:00": 24 * time.Hour, "25:00": -1, "": -1, "8": -1, "22:00:00.000+01:00": 22 * time.Hour} {
		if got, ok := format.Clock(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
}
