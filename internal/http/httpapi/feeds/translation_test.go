package feeds_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// rejectedRows returns rows that cause every code and reason of a rejection.
func rejectedRows() string {
	rows := []string{
		`7`, `{"external_id":"a","external_id":"a"}`, `{"external_id":"b","kind":"camera.speed","lat":1,"lng":2,"properties":{"x":1,"x":2}}`,
		`{}`, `{"external_id":7}`, httpapitest.Row("twice", "camera.speed", 0), httpapitest.Row("twice", "camera.speed", 0), `{"external_id":"c"}`,
		`{"external_id":"d","kind":"camera.<b>spd"}`, `{"external_id":"e","kind":"camera.speed"}`, `{"external_id":"f","kind":"camera.speed","lat":"52,1"}`,
		`{"external_id":"g","kind":"camera.speed","lat":1}`, `{"external_id":"h","kind":"camera.speed","lat":1,"lng":1e400}`,
		`{"external_id":"i","kind":"camera.speed","lat":1,"lng":2}`, `{"external_id":"l","x":"` + strings.Repeat("x", 64<<10) + `"}`,
	}
	for i, properties := range []string{`[1]`, `{"x":"\u0000"}`, `{"x":1e999}`, strings.Repeat(`{"x":`, 9) + "1" + strings.Repeat("}", 9), `{"x":"` + strings.Repeat("x", 17_000) + `"}`} {
		rows = append(rows, fmt.Sprintf(`{"external_id":"p%d","kind":"camera.speed","lat":1,"lng":2,"properties":%s}`, i, properties))
	}
	for i, more := range []string{`"ttl_seconds":-5`, `"observed_at":7`, `"observed_at":"yesterday"`, `"observed_at":"2999-01-01T00:00:00Z"`} {
		rows = append(rows, fmt.Sprintf(`{"external_id":"o%d","kind":"camera.speed","lat":1,"lng":2,"properties":{},%s}`, i, more))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// checkGerman checks that a German page contains none of the API's English messages, and no text that is marked as English.
func checkGerman(t *testing.T, body string, english []string) {
	t.Helper()
	text := httpapitest.TextOf(t, body)
	if !strings.Contains(body, `<html lang="de">`) || strings.Contains(body, `lang="en" class`) || strings.Contains(body, `<td lang="en"`) {
		t.Errorf("the page is not German: %s", body)
	}
	for _, message := range english {
		if message == "" || strings.Contains(text, strings.TrimSuffix(message, ".")) {
			t.Errorf("the page says %q: %s", message, text)
		}
	}
}

// TestRejectionsAreTranslated checks that pages of a German account explain in German why rows were rejected, with the rejected
// value, and that the API explains it in English.
func TestRejectionsAreTranslated(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("ada@example.org", mapdata.Curator)
	owner.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).Want(t, http.StatusOK)
	address, token := owner.NewFeed(pushFields("Straßen"))
	var report struct {
		Errors []struct{ Code, Message string }
	}
	d.Push(token, rejectedRows()).Want(t, http.StatusOK).Decode(t, &report)
	var codes, english []string
	for _, e := range report.Errors {
		codes, english = append(codes, e.Code), append(english, e.Message)
	}
	for _, code := range ingest.Codes() {
		if !slices.Contains(codes, code) && code != "feed_full" { // TestFullFeedsAreTranslated checks that one
			t.Errorf("no row is rejected for %s", code)
		}
	}
	for _, body := range []string{
		owner.Page(address, 200), owner.Page(strings.Replace(address, "/feeds/", "/review/", 1), 200),
		owner.Form("/check", url.Values{"json": {rejectedRows()}}).Want(t, 200).Body,
	} {
		checkGerman(t, body, english)
		httpapitest.Contains(t, body, `"52,1"`, `"camera.<b>spd"`, "1e400", "-5", `"yesterday"`, "Die Zeit liegt mehr als 5 Minuten in der Zukunft.", "Eine Zahl ist zu groß, um gespeichert zu werden.")
		for _, code := range codes {
			httpapitest.Contains(t, body, code)
		}
	}
}

// TestFailuresAreTranslated checks that reasons why a push or a fetch failed are in German too.
func TestFailuresAreTranslated(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("ada@example.org", mapdata.Driver)
	owner.Form("/language", url.Values{"language": {"de"}, "back": {"/account"}}).Want(t, http.StatusOK)
	address, token := owner.NewFeed(pushFields("Straßen"))
	for body, says := range map[string]string{
		`{}`: "Setzen Sie die Datensätze zwischen [ und ]", `[`: "kein gültiges JSON", httpapitest.Rows(5001, 52, 5): "mehr als 5.000 Datensätze. Senden Sie",
		`[]` + strings.Repeat(" ", 17<<20): "größer als 16 MiB",
	} {
		d.Advance(time.Minute)
		refusal := d.Push(token, body)
		var told struct{ Detail string }
		if err := json.Unmarshal([]byte(refusal.Body), &told); err != nil {
			t.Fatal(err)
		}
		page := owner.Page(address, 200)
		checkGerman(t, page, []string{told.Detail})
		httpapitest.Contains(t, page, says)
	}
	fetched, _ := owner.NewFeed(url.Values{
		"direction": {"pull"}, "visibility": {"public"}, "name": {"Roads"}, "pull_url": {"https://data.example.org/a.json"}, "pull_interval_seconds": {"60"},
	})
	said := map[string]bool{}
	for outcome, reasons := range mapdata.Reasons() {
		for _, reason := range reasons {
			d.Advance(time.Minute)
			d.PollFails(fetched, 3, true, mapdata.Attempt{Outcome: outcome, Reason: reason})
			page := owner.Page(fetched, 200)
			checkGerman(t, page, []string{"What the API says."})
			said[httpapitest.TextOf(t, page)] = true
		}
	}
	if len(said) < 17 {
		t.Errorf("%d pages, want a different reason on each", len(said))
	}

	// Errors in a form's fields.
	english := []string{"A push feed", "Resume it first", "at most 20", "is too long", "must ", "cannot be read"}
	refused := owner.Form(address+"/fetch", nil).Want(t, http.StatusConflict)
	checkGerman(t, refused.Body, english)
	httpapitest.Contains(t, refused.Body, "Das ist ein Push-Feed: Er wird nie abgerufen.")
	wrong := owner.Form(address+"/edit", url.Values{"name": {strings.Repeat("x", 101)}, "spec_url": {"ftp://x"}, "visibility": {"all"}, "description": {"\x00"}}).Want(t, 422)
	checkGerman(t, wrong.Body, english)
	httpapitest.Contains(t, wrong.Body, "höchstens 100 Zeichen")
	for range 20 {
		owner.Form("/account/tokens", url.Values{"name": {"x"}}).Want(t, http.StatusOK)
	}
	many := owner.Form("/account/tokens", url.Values{"name": {"x"}}).Want(t, http.StatusConflict)
	checkGerman(t, many.Body, english)
	httpapitest.Contains(t, many.Body, "Ein Konto hat höchstens 20 API-Tokens.")
}
