package datex2

import (
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/xmldoc"
)

// maxRecurring is the largest number of periods with a schedule that a record may have. More make the record
// unreadable.
const maxRecurring = 1000

// isActive reports whether a record is in force by its status and its life cycle.
func isActive(n xmldoc.Node) bool {
	if n.First("validity", "validityStatus").Text() == "suspended" {
		return false
	}
	cycle := n.Find("lifeCycleManagement")
	return cycle.First("cancel").Text() != "true" && cycle.First("end").Text() != "true"
}

// times reads the start and the end of a record, and judges whether it counts (D17.22).
func times(n xmldoc.Node, o *format.Options) (start, end time.Time, v format.Verdict) {
	validity := n.First("validity")
	specified := validity.First("validityTimeSpecification")
	start = format.Time(specified.First("overallStartTime").Text(), o.Zone)
	end = format.Time(specified.First("overallEndTime").Text(), o.Zone)
	overall := format.When{Start: start, End: end}
	if validity.First("validityStatus").Text() == "active" {
		overall.Start = time.Time{}
	}
	v = o.Judge(&overall)
	var plain format.When // all periods without a schedule; adjoining periods are merged
	within := make([]format.Verdict, 1, 4)
	for period := range specified.All("validPeriod") {
		if len(within) > maxRecurring || plain.Unread {
			return start, end, format.Verdict{Skip: format.Schedule}
		}
		when := periodOf(period, o)
		if len(when.Hours) > 0 || when.Unread {
			within = append(within, o.Judge(&when))
			continue
		}
		plain.AddPeriod(format.Period{From: when.Start, Until: when.End})
	}
	if len(plain.Periods) == 0 {
		return start, end, v.Within(within[1:])
	}
	within[0] = o.Judge(&plain)
	return start, end, v.Within(within)
}

// periodOf reads a period of validity; a period with a recurring part is a schedule.
func periodOf(n xmldoc.Node, o *format.Options) format.When {
	w := format.When{
		Start: format.Time(n.First("startOfPeriod").Text(), o.Zone), End: format.Time(n.First("endOfPeriod").Text(), o.Zone),
	}
	var days format.Days
	for child := range n.Children() {
		switch child.Name() {
		case "recurringDayWeekMonthPeriod":
			of, ok := daysOf(child)
			days |= of
			w.Unread = w.Unread || !ok
		case "recurringSpecialDay":
			w.Unread = true
		}
	}
	recurs := days != 0
	if days == 0 {
		days = format.EveryDay
	}
	hours := false
	for child := range n.All("recurringTimePeriodOfDay") {
		hours = true
		from, goodFrom := format.Clock(child.First("startTimeOfPeriod").Text())
		until, goodUntil := format.Clock(child.First("endTimeOfPeriod").Text())
		w.Unread = w.Unread || !goodFrom || !goodUntil
		w.AddHours(format.Hours{Days: days, From: from, Until: until})
	}
	if recurs && !hours {
		w.AddHours(format.Hours{Days: days, Until: 24 * time.Hour})
	}
	return w
}

// daysOf reads the days of the week of a recurring period. ok is false for recurring weeks and months, which are not
// supported.
func daysOf(n xmldoc.Node) (days format.Days, ok bool) {
	ok = true
	for child := range n.Children() {
		if child.Name() != "applicableDay" {
			ok = false
			continue
		}
		day, known := format.Weekday(child.Text())
		days |= day
		ok = ok && known
	}
	return days, ok
}
