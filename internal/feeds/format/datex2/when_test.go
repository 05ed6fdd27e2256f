package datex2_test

import (
	"strings"
	"testing"

	"wayside/internal/feeds/format"
)

// TestValidPeriods checks as of noon of 1 March 2026, a Sunday, that now must lie in one of the periods, that adjoining
// periods are merged, and that hours within a period are a schedule.
func TestValidPeriods(t *testing.T) {
	period := func(from, until, more string) string {
		return "<validPeriod><startOfPeriod>" + from + "</startOfPeriod><endOfPeriod>" + until + "</endOfPeriod>" + more + "</validPeriod>"
	}
	hours := func(from, until string) string {
		return "<recurringTimePeriodOfDay><startTimeOfPeriod>" + from + "</startTimeOfPeriod><endTimeOfPeriod>" + until + "</endTimeOfPeriod></recurringTimePeriodOfDay>"
	}
	const sundays, weeks = "<recurringDayWeekMonthPeriod><applicableDay>sunday</applicableDay></recurringDayWeekMonthPeriod>", "<recurringDayWeekMonthPeriod><applicableWeek>firstWeekOfMonth</applicableWeek></recurringDayWeekMonthPeriod>"
	morning, afternoon, evening := period("2026-03-01T08:00:00Z", noon, ""), period("2026-03-01T11:00:00Z", "2026-03-01T17:00:00Z", ""), period("2026-03-01T17:00:00Z", "2026-03-01T20:00:00Z", "")
	for name, tt := range map[string]struct {
		periods string
		skip    format.Reason
		ends    string
	}{
		"none":                      {"", "", ""},
		"open":                      {period("", "", ""), "", ""},
		"one":                       {afternoon, "", "2026-03-01T17:00:00Z"},
		"over":                      {morning, format.Ended, ""},
		"to come":                   {morning + evening, format.NotYet, ""},
		"two that adjoin":           {evening + afternoon, "", "2026-03-01T20:00:00Z"},
		"the overall end":           {"<overallEndTime>2026-03-01T16:00:00Z</overallEndTime>" + afternoon, "", "2026-03-01T16:00:00Z"},
		"not begun overall":         {"<overallStartTime>2026-03-01T13:00:00Z</overallStartTime>" + afternoon, format.NotYet, ""},
		"hours":                     {period("", "", hours("10:00:00", "14:00:00")), "", "2026-03-01T14:00:00Z"},
		"other hours":               {period("", "", hours("14:00:00", "15:00:00")), format.NotYet, ""},
		"hours and their period":    {period("2026-02-01T00:00:00Z", "2026-03-01T13:00:00Z", hours("10:00:00", "14:00:00")), "", "2026-03-01T13:00:00Z"},
		"hours of a period to come": {period("2026-03-02T00:00:00Z", "", hours("10:00:00", "14:00:00")), format.NotYet, ""},
		"on Sundays":                {period("", "", sundays), "", "2026-03-02T00:00:00Z"},
		"one, and other hours":      {afternoon + period("", "", hours("14:00:00", "15:00:00")), "", "2026-03-01T17:00:00Z"},
		"over, and hours":           {morning + period("", "", hours("10:00:00", "14:00:00")), "", "2026-03-01T14:00:00Z"},
		"weeks are not read":        {period("", "", weeks), format.Schedule, ""},
		"one, and weeks":            {afternoon + period("", "", weeks), "", "2026-03-01T17:00:00Z"},
		"to come, and weeks":        {period("", "", weeks) + evening, format.NotYet, ""},
		"a thousand with hours":     {strings.Repeat(period("", "", hours("10:00:00", "14:00:00")), 1000), "", "2026-03-01T14:00:00Z"},
		"more with hours":           {strings.Repeat(period("", "", hours("10:00:00", "14:00:00")), 1002), format.Schedule, ""},
		"hours that are no hours":   {period("", "", hours("noon", "14:00:00")), format.Schedule, ""},
	} {
		items, err := convert(records(record("Accident", "a", "<validity><validityTimeSpecification>"+tt.periods+"</validityTimeSpecification></validity>", point)))
		if err != nil || len(items) != 1 {
			t.Fatal(items, err)
		}
		if got := items[0]; got.Skip != tt.skip || !got.EndsAt.Equal(format.Time(tt.ends, nil)) {
			t.Errorf("%s: %q until %v, want %q until %s", name, got.Skip, got.EndsAt, tt.skip, tt.ends)
		}
	}
}
