package format

import (
	"slices"
	"strings"
	"time"
)

// When is the time for which an item is valid.
type When struct {
	Start, End time.Time // zero: none
	Periods    []Period  // now must lie in one of them, unless there are none; its end is the item's end
	Hours      []Hours   // a schedule, in which now must lie likewise
	Unread     bool      // there is a schedule that cannot be read
}

// Period is a span of time; a zero end is open.
type Period struct{ From, Until time.Time }

// Hours recur on certain days, by the clock of a time zone, and last past midnight when they end no later than they begin.
type Hours struct {
	Days        Days
	From, Until time.Duration // since midnight, 0 to 24 hours
	First, Last time.Time     // the first and the last date on which the hours begin; zero: unbounded
}

// Bounds of the times of one item, far beyond those that publishers write: a week of hours is seven, and each is expanded for nine days.
const (
	maxPeriods = 10_000
	maxHours   = 1000
)

// AddPeriod adds a period. Too many periods make the item unreadable.
func (w *When) AddPeriod(p Period) {
	if len(w.Periods) == maxPeriods {
		w.Unread = true
		return
	}
	w.Periods = append(w.Periods, p)
}

// AddHours adds hours. Too many hours make the item unreadable.
func (w *When) AddHours(h Hours) {
	if len(w.Hours) == maxHours {
		w.Unread = true
		return
	}
	w.Hours = append(w.Hours, h)
}

// Counted work of judging times, in measured nanoseconds.
const (
	judgeWork  = 500
	periodWork = 500 // both times are parsed, and all are sorted
	hoursWork  = 1000
)

// Judge evaluates the times at the instant and in the zone of the options, within their budget.
func (o *Options) Judge(w *When) Verdict {
	if !o.Budget.Spend(judgeWork + periodWork*len(w.Periods) + hoursWork*len(w.Hours)) {
		return Verdict{Skip: Schedule}
	}
	return w.Judge(o.Now, o.Zone)
}

// Days is a set of days of the week.
type Days uint8

// EveryDay is the set of all days.
const EveryDay Days = 1<<7 - 1

// Day returns the set of one day.
func Day(d time.Weekday) Days { return 1 << d }

// Verdict is the result of judging an item's times.
type Verdict struct {
	Skip  Reason    // empty: the item counts now
	End   time.Time // the end of the item, or of its hours that run now; zero: not known
	Again time.Time // the earliest start or end after now; zero: none
}

// Judge returns whether the item counts now (D17.6). zone is the feed's; it is nil when the feed names none, and then a schedule cannot be
// read. Judge may reorder Periods.
func (w *When) Judge(now time.Time, zone *time.Location) Verdict {
	var v Verdict
	v.meet(now, w.Start)
	v.meet(now, w.End)
	switch {
	case !w.End.IsZero() && !w.End.After(now):
		v.Skip = Ended
		return v
	case w.Start.After(now):
		v.Skip = NotYet
		return v
	}
	v.End = w.End
	if len(w.Periods) > 0 {
		v.within(now, w.Periods)
	}
	if v.Skip != "" || len(w.Hours) == 0 && !w.Unread {
		return v
	}
	if zone == nil || w.Unread {
		v.Skip = Schedule
		return v
	}
	var few [2 * daysAround]Period
	periods, clocks := few[:0], clocks{zone: zone}
	for i := range w.Hours {
		periods = w.Hours[i].around(periods, now, &clocks)
	}
	v.within(now, periods)
	return v
}

// meet records a start or an end.
func (v *Verdict) meet(now, at time.Time) {
	if at.After(now) && (v.Again.IsZero() || at.Before(v.Again)) {
		v.Again = at
	}
}

// within checks that now lies in one of the periods.
func (v *Verdict) within(now time.Time, periods []Period) {
	inside, later := false, false
	var end time.Time
	for _, p := range periods {
		v.meet(now, p.From)
		v.meet(now, p.Until)
		open := p.Until.IsZero()
		switch {
		case !open && (!p.Until.After(now) || !p.Until.After(p.From)):
		case p.From.After(now):
			later = true
		case !inside:
			inside, end = true, p.Until
		case open || !end.IsZero() && p.Until.After(end):
			end = p.Until
		}
	}
	if inside && !end.IsZero() {
		end = lasting(periods, end)
	}
	switch {
	case inside && !end.IsZero() && (v.End.IsZero() || end.Before(v.End)):
		v.End = end
	case inside:
	case later:
		v.Skip = NotYet
	default:
		v.Skip = Ended
	}
}

// lasting returns when a span that runs until end is over, extended by the periods that begin before its end or exactly then; zero means
// never. It sorts the periods in place, because strangers write hundreds of thousands of them.
func lasting(periods []Period, end time.Time) time.Time {
	slices.SortFunc(periods, func(a, b Period) int { return a.From.Compare(b.From) })
	for _, p := range periods {
		switch {
		case p.From.After(end):
			return end
		case p.Until.IsZero():
			return p.Until
		case p.Until.After(end) && p.Until.After(p.From):
			end = p.Until
		}
	}
	return end
}

// daysAround is the number of days for which hours are expanded.
const daysAround = 9

// around appends the hours that begin between the day before now and eight days later, or from their first date on when that is later. It
// leaves those of the last of these days open, unless it is their last date, so that a span that lasts until then has no end.
func (h *Hours) around(periods []Period, now time.Time, clocks *clocks) []Period {
	if h.From < 0 || h.From >= 24*time.Hour || h.Until < 0 || h.Until > 24*time.Hour {
		return periods
	}
	begin := dateOf(now.In(clocks.zone)).AddDate(0, 0, -1)
	if first := dateOf(h.First); first.After(begin) {
		begin = first
	}
	last, until := dateOf(h.Last), h.Until
	if until <= h.From {
		until += 24 * time.Hour
	}
	for i := range daysAround {
		date := begin.AddDate(0, 0, i)
		if !last.IsZero() && date.After(last) {
			break
		}
		if h.Days&Day(date.Weekday()) == 0 {
			continue
		}
		p := Period{From: clocks.shown(date.Add(h.From))}
		if i < daysAround-1 || date.Equal(last) {
			p.Until = clocks.shown(date.Add(until))
		}
		periods = append(periods, p)
	}
	return periods
}

// dateOf returns a date as its midnight in UTC, because in some zones the clocks skip midnight.
func dateOf(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// clocks converts local times of a zone. It caches the last offset with its bounds, within which most times lie.
type clocks struct {
	zone        *time.Location
	asked       bool
	offset      time.Duration
	from, until time.Time // bounds of the offset; zero: no change
}

// shown returns the instant at which the clocks of the zone show what they show at clock in UTC. A time that they skip is read by the
// offset before, and of a time that they show twice the first counts, as in calendars (RFC 5545, 3.3.5); time.Date leaves both open. Clocks
// change at most once in a day.
func (c *clocks) shown(clock time.Time) time.Time {
	before := clock.Add(-24 * time.Hour).In(c.zone)
	if !c.asked || before.Before(c.from) || !c.until.IsZero() && !before.Before(c.until) {
		c.asked, c.offset = true, offsetOf(before)
		c.from, c.until = before.ZoneBounds()
	}
	first := clock.Add(-c.offset).In(c.zone)
	if c.until.IsZero() || first.Before(c.until) {
		return first
	}
	after := offsetOf(first)
	if second := clock.Add(-after).In(c.zone); offsetOf(second) == after {
		return second
	}
	return first
}

func offsetOf(at time.Time) time.Duration {
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

// Shown returns the instant at which the clocks of a zone show what they show at clock in UTC, and the zero time for an implausible year.
func Shown(clock time.Time, zone *time.Location) time.Time {
	c := clocks{zone: zone}
	return meant(c.shown(clock))
}

// meant returns a time of a plausible year, and the zero time otherwise.
func meant(at time.Time) time.Time {
	if at = at.UTC(); at.Year() < firstYear || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

const (
	withoutZone  = "2006-01-02T15:04:05"
	withoutColon = "2006-01-02T15:04:05Z0700"
)

// layouts of times, the most frequent first. Fractions of seconds are accepted wherever there are seconds.
var layouts = [...]struct {
	layout string
	zoned  bool
}{
	{time.RFC3339, true},
	{withoutZone, false},
	{withoutColon, true},
	{"2006-01-02T15:04Z07:00", true},
	{"2006-01-02T15:04", false},
	{"2006-01-02 15:04:05", false},
	{"2006-01-02 15:04", false},
	{"2006-01-02 15:04:05Z07:00", true},
	{"2006-01-02", false},
}

// firstYear is the first plausible year, because programs write dates of the year 1 for an absent time.
const firstYear = 1900

// Time parses a time. One without an offset is in the zone, or in UTC when zone is nil. A time that cannot be read counts as absent
// (D17.6).
func Time(text string, zone *time.Location) time.Time {
	text = strings.TrimSpace(text)
	if len(text) < len("2006-01-02") || len(text) > 64 {
		return time.Time{}
	}
	if zone == nil {
		zone = time.UTC
	}
	for _, l := range layouts {
		if !mayBe(text, l.layout, l.zoned) {
			continue
		}
		at, err := parse(l.layout, text)
		if err != nil {
			continue
		}
		if !l.zoned {
			return Shown(at, zone)
		}
		return meant(at)
	}
	return time.Time{}
}

// parse calls time.Parse. It rewrites two frequent layouts to RFC 3339 first, which time.Parse reads in a third of the time.
func parse(layout, text string) (time.Time, error) {
	switch layout {
	case withoutZone:
		return time.Parse(time.RFC3339, text+"Z")
	case withoutColon:
		i := len(text) - len("00")
		return time.Parse(time.RFC3339, text[:i]+":"+text[i:])
	}
	return time.Parse(layout, text)
}

// mayBe reports whether a text of at least 10 characters could have a layout, by the characters between its digits, because parsing costs
// more.
func mayBe(text, layout string, zoned bool) bool {
	const date, minutes, seconds = len("2006-01-02"), len("2006-01-02T15"), len("2006-01-02T15:04")
	if len(text) == date || len(layout) == date {
		return len(text) == len(layout)
	}
	if text[date] != layout[date] {
		return false
	}
	if len(text) > minutes && text[minutes] == ':' && // not where the hour has one digit
		(len(text) > seconds && text[seconds] == ':') != (len(layout) > seconds && layout[seconds] == ':') {
		return false
	}
	if text[len(text)-1] == 'Z' {
		return zoned
	}
	if offset := strings.ContainsAny(text[date:], "+-"); offset != zoned {
		return false
	}
	return !zoned || (text[len(text)-3] == ':') == strings.HasSuffix(layout, ":00")
}

// Clock parses a time of day, "18:00" or "18:00:00", with an offset or without, and returns the time since midnight.
func Clock(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "24:00" || text == "24:00:00" {
		return 24 * time.Hour, true
	}
	if hours, ok := shortClock(text); ok {
		return hours, true
	}
	if i := strings.IndexAny(text, "Zz+-."); i > 0 {
		text = text[:i]
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second, true
		}
	}
	return 0, false
}

// shortClock parses "18:00", the most frequent form.
func shortClock(text string) (time.Duration, bool) {
	if len(text) != len("18:00") || text[2] != ':' {
		return 0, false
	}
	n := 0
	for _, i := range [...]int{0, 1, 3, 4} {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	hours, minutes := n/100, n%100
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute, hours < 24 && minutes < 60
}

// Meet keeps the earliest of the instants at which a document must be read again.
func (s *Summary) Meet(again time.Time) {
	if !again.IsZero() && (s.Again.IsZero() || again.Before(s.Again)) {
		s.Again = again
	}
}

// Weekday parses the English name of a day of the week, in any case.
func Weekday(name string) (Days, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(strings.TrimSpace(name), d.String()) {
			return Day(d), true
		}
	}
	return 0, false
}

// Within narrows a verdict down by those of its periods: one of them must count, where there are any.
func (v Verdict) Within(periods []Verdict) Verdict {
	if v.Skip != "" || len(periods) == 0 {
		return v
	}
	best := Verdict{Skip: Ended}
	for _, p := range periods {
		if !p.Again.IsZero() && (v.Again.IsZero() || p.Again.Before(v.Again)) {
			v.Again = p.Again
		}
		switch {
		case p.Skip == "" && (best.Skip != "" || p.End.IsZero() || !best.End.IsZero() && p.End.After(best.End)):
			best = p
		case p.Skip != "" && best.Skip == Ended:
			best = p
		}
	}
	v.Skip = best.Skip
	if v.End.IsZero() || !best.End.IsZero() && best.End.Before(v.End) {
		v.End = best.End
	}
	return v
}
