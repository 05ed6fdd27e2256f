package feeds

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// maxConvertTime bounds the processor time until a hostile document is answered or refused. The bound of a dedicated machine is 10
// s; threads that share a core with others take up to twice as long.
const maxConvertTime = 20 * time.Second

// costly is a document that once cost far more than its size suggests.
type costly struct {
	name, format string
	body         []byte
	want         string // the fault; empty: it is accepted
}

// costlyDocuments returns documents like those of the findings F1, F6 and T3, which take less than ten seconds in all today.
func costlyDocuments(t *testing.T) []costly {
	t.Helper()
	record := func(i int, typ, lat string) string {
		return fmt.Sprintf(`<situationRecord xsi:type="%s" id="%d"><groupOfLocations><pointCoordinates><latitude>52.%s</latitude><longitude>5</longitude></pointCoordinates></groupOfLocations></situationRecord>`, typ, i, lat)
	}
	var apart, together, members strings.Builder
	for i := range 14_000 {
		apart.WriteString(record(i, "Accident", fmt.Sprintf("%05d", i)) + record(i, "Accident", fmt.Sprintf("%05d", 20_000+i)))
	}
	for i := range 28_000 {
		together.WriteString(record(i, []string{"NoSuchType", "Accident"}[i/14_000], "1"))
	}
	for i := range 1_000_000 {
		fmt.Fprintf(&members, `"k%d":"v",`, i)
	}
	const open, closes = "<x><situationPublication><situation>", "</situation></situationPublication></x>"
	const incidents, events = `{"incidents":[{"id":"a","type":"ACCIDENT","polyline":"52 5",`, `{"events":[{"id":"a","status":"ACTIVE","event_type":"CONSTRUCTION",`
	return []costly{
		{"mixed text (F1)", "cifs", []byte(`<incidents><incident id="1">` + strings.Repeat("x<b>y</b>", 40_000) + "</incident></incidents>"), ""},
		{"mixed text of 16 MiB (F1)", "traff", packed(t, "<feed><message>", "x<b>y</b>", 15<<20, "</message></feed>"), "item"},
		{"records at many places (F6)", "datex2", []byte(open + apart.String() + closes), ""},
		{"records at one place (F6)", "datex2", []byte(open + together.String() + closes), ""},
		{"a long header of many records (F6)", "datex2", []byte(open + "<headerInformation><informationStatus>" + strings.Repeat("x", 1<<20) + "</informationStatus></headerInformation>" + together.String() + closes), ""},
		{"a million members (T3)", "overpass", []byte(`{"elements":[{"type":"node","id":1,"tags":{` + members.String() + `"x":0}}]}`), "item"},
		{"a million members around the items", "wzdx", []byte("{" + members.String() + `"features":[]}`), "item"},
		{"hours", "cifs", []byte(incidents + `"schedule":{"monday":"` + strings.Repeat("00:00-12:00,", 1_000_000) + `"}}]}`), ""},
		{"empty hours", "cifs", []byte(incidents + `"schedule":{"monday":"` + strings.Repeat(",", 14<<20) + `"}}]}`), ""},
		{"intervals", "open511", []byte(events + `"schedule":{"intervals":["/"` + strings.Repeat(`,"/"`, 900_000) + "]}}]}"), ""},
		{"one way of many relations", "overpass", []byte(`{"elements":[` + strings.Repeat(`{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"average_speed"},"members":[{"type":"way","ref":1,"role":"section"}]},`, 20_000) +
			`{"type":"way","id":1,"geometry":[` + strings.Repeat(`{"lat":52,"lon":5},{"lat":52.1,"lon":5.1},`, 100_000) + "{}]}]}"), ""},
		{"statuses", "datex2-energy", []byte(`{"energyInfrastructureStatusPublication":{"refillPointStatus":[{}` + strings.Repeat(`,{"reference":{"idG":"`+strings.Repeat("x", 1<<20)+`"},"status":"available"}`, 30) + "]}}"), "format"},
		{"many parts of a site", "datex2-energy", []byte(`{"energyInfrastructureTablePublication":{"energyInfrastructureSite":[{"idG":"a","x":[` + strings.Repeat("0,", 900_000) + "0]}]}}"), "item"},
		{"words of a list of positions", "open511", []byte("<x><events><event><id>a</id><status>ACTIVE</status><event_type>CONSTRUCTION</event_type><geography><posList>" + strings.Repeat("1 1 ", 3<<20) + "</posList></geography></event></events></x>"), ""},
	}
}

// TestCostlyDocuments converts each of the costly documents with the real program, in bounded memory and processor time (D17.16).
func TestCostlyDocuments(t *testing.T) {
	t.Parallel()
	bin, file := testenv.Program(t), filepath.Join(t.TempDir(), "document")
	for _, tt := range costlyDocuments(t) {
		systemtest.Must(t, os.WriteFile(file, tt.body, 0o600))
		var stderr strings.Builder
		cmd := exec.Command(bin, "convert", "--from", tt.format, "--time-zone", "Europe/Amsterdam", "--out", filepath.Join(t.TempDir(), "rows"), file)
		cmd.Stderr = &stderr
		peak, _ := systemtest.RunWatched(cmd) // the exit code is checked
		took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		t.Logf("%s: %d MiB, %v, %.60s", tt.name, peak>>10, took, stderr.String())
		if code := cmd.ProcessState.ExitCode(); code > 1 || (code == 1) != (tt.want != "") || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: code %d, %.300s, want %q", tt.name, code, stderr.String(), tt.want)
		}
		if peak<<10 > maxConvertMemory || took > maxConvertTime {
			t.Errorf("%s: %d MiB, %v", tt.name, peak>>10, took)
		}
	}
}

// checking posts a document to the page that checks one, and returns the status.
func checking(c *systemtest.Client, fields url.Values) (int, error) {
	req, err := http.NewRequest(http.MethodPost, c.Service.Base+"/check", strings.NewReader(fields.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", c.Service.Base)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.AddCookie(c.Cookie)
	slow := http.Client{Timeout: 5 * time.Minute} // documents are checked one after the other, which takes long on a busy machine
	resp, err := slow.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// checkCostly makes accounts check hostile documents at the same time, each one after the other, for the given number of rounds:
// texts of the largest size that a form accepts, and documents of a publisher. Each is answered, or refused because there is no
// room. wait returns how many were judged.
func checkCostly(t *testing.T, accounts []*systemtest.Client, publisher func(account, n int) (address, format string), rounds int) (wait func() (judged int)) {
	t.Helper()
	texts := []url.Values{
		{"format": {"cifs"}, "json": {`<incidents><incident id="1">` + strings.Repeat("x<b>y</b>", 110_000) + "</incident></incidents>"}},
		{"format": {"wzdx"}, "json": {`{"features":[{"id":[` + strings.Repeat("0,", 500_000) + `0]}]}`}},
		{"format": {"traff"}, "json": {"<feed><message>" + strings.Repeat("<b/>", 250_000) + "</message></feed>"}},
	}
	var done sync.WaitGroup
	var mu sync.Mutex
	judged := 0
	for i, account := range accounts {
		done.Go(func() {
			for n := range rounds {
				fields := texts[(i+n)%len(texts)]
				if i%2 == 1 {
					address, format := publisher(i, n)
					fields = url.Values{"format": {format}, "pull_url": {address}}
				}
				status, err := checking(account, fields)
				if err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable {
					t.Errorf("check: %d %v", status, err)
				}
				if status == http.StatusOK {
					mu.Lock()
					judged++
					mu.Unlock()
				}
			}
		})
	}
	return func() int {
		done.Wait()
		return judged
	}
}
