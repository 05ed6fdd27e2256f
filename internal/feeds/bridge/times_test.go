package bridge_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
)

// Documents of one item each, with %s for its times; point is its position.
const (
	pointJSON  = `"geometry":{"type":"Point","coordinates":[5,52]}`
	recordXML  = `<x xmlns:xsi="v"><situationPublication><situation><situationRecord xsi:type="Accident" id="a"><validity><validityTimeSpecification>%s</validityTimeSpecification></validity><groupOfLocations><pointCoordinates><latitude>52</latitude><longitude>5</longitude></pointCoordinates></groupOfLocations></situationRecord></situation></situationPublication></x>`
	incident   = `{"incidents":[{"id":"a","type":"ACCIDENT","polyline":"52 5",%s}]}`
	event      = `{"events":[{"id":"a","status":"ACTIVE","event_type":"CONSTRUCTION","schedule":%s,"geography":{"type":"Point","coordinates":[5,52]}}]}`
	timesByMap = `{"id":"id","kind":{"value":"alert.hazard"},"starts_at":"from","ends_at":"until"`
)

// between returns, for each format whose items have a start and an end, a document of one item with these.
func between(from, until string) map[string]string {
	return map[string]string{
		"wzdx":        fmt.Sprintf(`{"features":[{"id":"a","properties":{"core_details":{"event_type":"work-zone"},"start_date":%q,"end_date":%q},`+pointJSON+`}]}`, from, until),
		"digitraffic": fmt.Sprintf(`{"features":[{"properties":{"situationId":"a","situationType":"ROAD_WORK","announcements":[{"timeAndDuration":{"startTime":%q,"endTime":%q}}]},`+pointJSON+`}]}`, from, until),
		"datex2":      fmt.Sprintf(recordXML, "<overallStartTime>"+from+"</overallStartTime><overallEndTime>"+until+"</overallEndTime>"),
		"datex2 by a period": fmt.Sprintf(recordXML, "<overallStartTime>2020-01-01T00:00:00Z</overallStartTime><validPeriod><startOfPeriod>"+
			from+"</startOfPeriod><endOfPeriod>"+until+"</endOfPeriod></validPeriod>"),
		"geojson": fmt.Sprintf(`{"features":[{"id":"a","from":%q,"until":%q,`+pointJSON+`}]}`, from, until),
		"csv":     "id,from,until,lat,lng\na," + from + "," + until + ",52,5\n",
		"open511": fmt.Sprintf(event, `{"intervals":["`+from+"/"+until+`"]}`),
		"cifs":    fmt.Sprintf(incident, `"starttime":"`+from+`","endtime":"`+until+`"`),
		"traff":   fmt.Sprintf(`<feed><message id="a" start_time=%q end_time=%q><events><event class="CONSTRUCTION" type="CONSTRUCTION_ROADWORKS"/></events><location><at>52 5</at></location></message></feed>`, from, until),
	}
}

// onDays returns, for each format with schedules, a document of one item that is in force at these hours of these days of the week.
func onDays(days []time.Weekday, from, until string) map[string]string {
	var applicable, hours, numbers []string
	for _, d := range days {
		applicable = append(applicable, "<applicableDay>"+strings.ToLower(d.String())+"</applicableDay>")
		hours = append(hours, fmt.Sprintf("%q:%q", strings.ToLower(d.String()), from+"-"+until))
		numbers = append(numbers, fmt.Sprint((int(d)+6)%7+1))
	}
	return map[string]string{
		"datex2": fmt.Sprintf(recordXML, "<validPeriod><recurringTimePeriodOfDay><startTimeOfPeriod>"+from+":00</startTimeOfPeriod><endTimeOfPeriod>"+until+
			":00</endTimeOfPeriod></recurringTimePeriodOfDay><recurringDayWeekMonthPeriod>"+strings.Join(applicable, "")+"</recurringDayWeekMonthPeriod></validPeriod>"),
		"open511": fmt.Sprintf(event, `{"recurring_schedules":[{"start_date":"2026-01-01","daily_start_time":"`+from+`","daily_end_time":"`+until+`","days":[`+strings.Join(numbers, ",")+`]}]}`),
		"cifs":    fmt.Sprintf(incident, `"schedule":{`+strings.Join(hours, ",")+`}`),
	}
}

// judged converts a document of one item at a time, and returns why it is skipped, when it ends, and when it must be read again.
func judged(t *testing.T, name, text string, now time.Time, zone *time.Location) (skip format.Reason, ends, again time.Time) {
	t.Helper()
	f, known := bridge.Lookup(strings.Fields(name)[0])
	if !known {
		t.Fatal("no format", name)
	}
	o := format.Options{Now: now, Zone: zone, Mapping: []byte(timesByMap + "}")}
	if f.Accept == bridge.CSV {
		o.Mapping = []byte(timesByMap + `,"lat":"lat","lng":"lng"}`)
	}
	var skips bridge.Skips
	rows := 0
	d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	summary, err := f.Convert(d, &o, &skips, func(item format.Item) error {
		rows, ends = rows+1, item.EndsAt
		return nil
	})
	if err != nil || rows+skips.Total() != 1 {
		t.Fatalf("%s: %d rows, %+v, %v of %s", name, rows, skips.List(), err, text)
	}
	for _, s := range skips.List() {
		skip = s.Reason
	}
	return skip, ends, summary.Again
}

// changes returns the instants in 2026 at which the clocks of a zone change.
func changes(t *testing.T, name string) (zone *time.Location, at []time.Time) {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	next := time.Date(2026, 1, 1, 12, 0, 0, 0, zone)
	for {
		if _, next = next.ZoneBounds(); next.IsZero() || next.Year() > 2026 {
			break
		}
		at = append(at, next)
	}
	if len(at) != 2 {
		t.Fatalf("%s: clocks change at %v", name, at)
	}
	return zone, at
}

// zones of the tests: Europe and America change their clocks by night, on different days; in Chile they skip midnight in one month and show
// it twice in another.
var zones = []string{"Europe/Amsterdam", "America/Denver", "America/Santiago", "Australia/Sydney"}

// walk compares documents with the expectation of a person with a clock on the wall, from two days before a change of clocks until three
// days after: at every fourth hour, at every half hour around the change, and at each moment at which expected changes and a second before
// it. It checks whether the item is shown, when it ends, and that the document is read again no later than that, and sooner only where
// hours adjoin.
func walk(t *testing.T, documents map[string]string, change time.Time, zone *time.Location, adjoin bool, expected func(wall time.Time) bool) {
	t.Helper()
	const before, after, horizon = 48 * time.Hour, 72 * time.Hour, 9 * 24 * time.Hour
	var moments, turns []time.Time
	from := change.Add(-before).Truncate(time.Hour)
	for at := from; at.Before(change.Add(after + horizon)); at = at.Add(30 * time.Minute) {
		if at.After(from) && expected(at.In(zone)) != expected(at.Add(-time.Minute).In(zone)) {
			turns = append(turns, at)
			moments = append(moments, at.Add(-time.Second), at)
		} else if at.Sub(from)%(4*time.Hour) == 0 || at.Sub(change).Abs() <= 2*time.Hour {
			moments = append(moments, at)
		}
	}
	for name, text := range documents {
		for _, now := range moments {
			if now.After(change.Add(after)) {
				break
			}
			var turn time.Time
			for i := len(turns) - 1; i >= 0 && turns[i].After(now); i-- {
				turn = turns[i]
			}
			skip, ends, again := judged(t, name, text, now, zone)
			if want := expected(now.In(zone)); (skip == "") != want {
				t.Fatalf("%s at %v: skipped %q, expected to be shown: %v\n%s", name, now.In(zone), skip, want, text)
			}
			if skip == "" && !ends.Equal(turn) || !again.Equal(turn) && !(adjoin && !again.IsZero() && (turn.IsZero() || again.Before(turn))) {
				t.Fatalf("%s at %v: ends %v, read again at %v, want %v\n%s", name, now.In(zone), ends.In(zone), again.In(zone), turn.In(zone), text)
			}
		}
	}
}

// TestStartsAndEnds checks that times without an offset are read by the clocks of the feed's zone, over both changes of clocks.
func TestStartsAndEnds(t *testing.T) {
	for _, name := range zones {
		zone, all := changes(t, name)
		for _, change := range all {
			const layout = "2006-01-02T15:04:05"
			from := change.In(zone).AddDate(0, 0, -1).Format("2006-01-02") + "T21:30:00"
			until := change.In(zone).AddDate(0, 0, 1).Format("2006-01-02") + "T05:00:00"
			expected := func(wall time.Time) bool {
				clock := wall.Format(layout)
				return clock >= from && clock < until
			}
			t.Run(name+change.Format(" 2006-01-02"), func(t *testing.T) {
				walk(t, between(from, until), change, zone, false, expected)
			})
		}
	}
	// Times with an offset are the same instants in every zone.
	zone, all := changes(t, "Europe/Amsterdam")
	from, until := all[0].Add(-90*time.Minute), all[0].Add(30*time.Minute)
	expected := func(now time.Time) bool { return !now.Before(from) && now.Before(until) }
	for _, of := range []*time.Location{zone, time.UTC, time.FixedZone("", -7*3600)} {
		walk(t, between(from.In(of).Format(time.RFC3339), until.In(of).Format(time.RFC3339)), all[0], zone, false, expected)
	}
}

// TestSchedules checks that hours of days of the week are read by the clocks of the feed's zone, over both changes of clocks, and that a
// schedule without a zone shows nothing.
func TestSchedules(t *testing.T) {
	week := []time.Weekday{1, 2, 3, 4, 5, 6, 0}
	for _, tt := range []struct {
		days        []time.Weekday
		from, until string
		adjoin      bool // the hours of one day continue on the next
	}{
		{week, "22:00", "06:00", false},
		{week[:5], "08:00", "17:30", false},
		{week[6:], "00:00", "24:00", false},
		{week[5:6], "00:00", "12:00", false},
		{week[4:6], "21:00", "21:00", true},
		{week[:5], "00:00", "24:00", true},
		{week, "00:00", "24:00", true},
	} {
		on := make(map[time.Weekday]bool)
		for _, d := range tt.days {
			on[d] = true
		}
		overnight := tt.until <= tt.from
		expected := func(wall time.Time) bool {
			clock := wall.Format("15:04")
			today := on[wall.Weekday()] && clock >= tt.from && (clock < tt.until || overnight)
			return today || overnight && on[(wall.Weekday()+6)%7] && clock < tt.until
		}
		documents := onDays(tt.days, tt.from, tt.until)
		for _, name := range zones {
			zone, all := changes(t, name)
			for _, change := range all {
				t.Run(fmt.Sprint(tt.days, tt.from, "-", tt.until, " ", name, change.Format(" 2006-01-02")), func(t *testing.T) {
					walk(t, documents, change, zone, tt.adjoin, expected)
				})
			}
		}
		for name, text := range documents {
			if skip, _, _ := judged(t, name, text, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), nil); skip != format.Schedule {
				t.Errorf("%s without a zone: %q", name, skip)
			}
		}
	}
}

// TestMotorwaysOfGermany checks that an end within a description is read by Germany's clocks, whatever zone the feed has.
func TestMotorwaysOfGermany(t *testing.T) {
	zone, all := changes(t, "Europe/Berlin")
	denver, _ := changes(t, "America/Denver")
	for _, change := range all {
		from := change.Add(-24 * time.Hour)
		until := change.In(zone).AddDate(0, 0, 1).Format("02.01.2006") + " 05:00"
		text := fmt.Sprintf(`{"roadworks":[{"identifier":"a","startTimestamp":%q,"description":["Ende: %s Uhr"],"coordinate":{"lat":"52","long":"5"}}]}`,
			from.Format("2006-01-02T15:04:05.000-0700"), strings.Replace(until, " ", " um ", 1))
		walk(t, map[string]string{"autobahn": text}, change, denver, false, func(now time.Time) bool {
			return !now.Before(from) && now.In(zone).Format("20060102 15:04") < change.In(zone).AddDate(0, 0, 1).Format("20060102")+" 05:00"
		})
	}
}
