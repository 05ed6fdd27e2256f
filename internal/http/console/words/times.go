package words

import (
	"html/template"
	"strconv"
	"time"
)

// Day formats a day in UTC: "21 November 2026".
func (w *Words) Day(t time.Time) string {
	t = t.UTC()
	month := w.Text("month." + strconv.Itoa(int(t.Month())))
	return w.Text("day", strconv.Itoa(t.Day()), month, strconv.Itoa(t.Year()))
}

// Moment formats a day and a time in UTC: "21 November 2026, 08:15 UTC".
func (w *Words) Moment(t time.Time) string {
	return w.Text("moment", w.Day(t), t.UTC().Format("15:04"))
}

// DayHTML returns Day in a time element; empty for the zero time.
func (w *Words) DayHTML(t time.Time) template.HTML {
	return element(t, time.DateOnly, w.Day)
}

// MomentHTML returns Moment in a time element; empty for the zero time.
func (w *Words) MomentHTML(t time.Time) template.HTML {
	return element(t, time.RFC3339, w.Moment)
}

func element(t time.Time, layout string, write func(time.Time) string) template.HTML {
	if t.IsZero() {
		return ""
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(layout) + `">` + //nolint:gosec // of a time alone
		template.HTMLEscapeString(write(t)) + `</time>`)
}

// Span formats a duration in its largest unit: "3 minutes".
func (w *Words) Span(d time.Duration) string { return w.length("span", d) }

// Ago formats the time since something: "3 minutes ago".
func (w *Words) Ago(d time.Duration) string {
	if d < time.Minute {
		return w.Text("ago.now")
	}
	return w.length("ago", d)
}

func (w *Words) length(group string, d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return w.CountText(group+".second", int(d/time.Second))
	case d < time.Hour:
		return w.CountText(group+".minute", int(d/time.Minute))
	case d < 2*day:
		return w.CountText(group+".hour", int(d/time.Hour))
	}
	return w.CountText(group+".day", int(d/day))
}
