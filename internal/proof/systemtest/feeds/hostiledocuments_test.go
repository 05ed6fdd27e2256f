package feeds

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
	"wayside/internal/roads/roadtest"
)

// maxConvertMemory bounds the peak memory of a process with a hostile document: the program itself, an item of 16 MiB and its tree.
const maxConvertMemory = 250 << 20

// packed returns a gzip file of begin, followed by middle until both have size more bytes, and end. middle is compressed once, so
// that the file takes neither room nor time. Its checksum is wrong, which shows if a document is read to the end.
func packed(t *testing.T, begin, middle string, size int, end string) []byte {
	t.Helper()
	deflated := func(text string, last bool) []byte {
		var out bytes.Buffer
		zip, err := flate.NewWriter(&out, flate.BestSpeed)
		systemtest.Must(t, err)
		_, err = io.WriteString(zip, text)
		systemtest.Must(t, err)
		if last {
			systemtest.Must(t, zip.Close())
		} else {
			systemtest.Must(t, zip.Flush())
		}
		return out.Bytes()
	}
	part := strings.Repeat(middle, 1+(1<<20)/len(middle))
	file := append([]byte{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF}, deflated(begin, false)...)
	file = append(file, bytes.Repeat(deflated(part, false), 1+size/len(part))...)
	return append(append(file, deflated(end, true)...), make([]byte, 8)...)
}

// inUTF16 returns a text in UTF-16, little-endian, without a byte order mark.
func inUTF16(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// TestHostileDocuments converts documents that are bad as a whole with the real program, and checks that each fails with one line
// that names the fault, prints nothing else, and takes bounded memory (D17.15, D17.16).
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	bin, file := testenv.Program(t), filepath.Join(t.TempDir(), "document")
	const head, items = `<?xml version="1.0" encoding="UTF-8"?>`, `{"features":[`
	bomb := packed(t, `{"x":[`, "0,          ", 260<<20, "0]}")
	var twice bytes.Buffer
	zip := gzip.NewWriter(&twice)
	if _, err := zip.Write(bomb); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, format string
		text         []byte
		want         string // the fault, and its place
	}{
		{"document type", "datex2", []byte(head + "<!DOCTYPE a>\n<a/>"), "dtd"},
		{"billion laughs", "datex2", []byte(head + `<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>`), "dtd"},
		{"external entity", "datex2", []byte(head + `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`), "dtd"},
		{"unknown entity", "datex2", []byte(head + "\n<a>&nbsp;</a>"), "xml: line 2"},
		{"breaks off", "datex2", []byte(head + "\n<a>\n<b>"), "xml: line 3"},
		{"deep elements", "datex2", packed(t, head, "<a>", 600_000, ""), "too_deep"},
		{"attributes", "datex2", packed(t, head+"<a", ` b="c"`, 12<<20, "/>"), ""},
		{"long text", "datex2", packed(t, head+"<a><situation>", "x", 200<<20, "</situation></a>"), "item"},
		{"endless tag", "datex2", packed(t, head+"<a", " ", 40<<20, ""), ""},
		{"another encoding than declared", "datex2", []byte(head + "<a>D\xFCsseldorf</a>"), "encoding"},
		{"unknown encoding", "datex2", []byte(`<?xml version="1.0" encoding="EBCDIC-CP-BE"?><a/>`), "encoding"},
		{"UTF-16 that is declared and is none", "datex2", []byte(`<?xml version="1.0" encoding="UTF-16"?><a/>`), ""},
		{"gzip bomb", "wzdx", bomb, "body"},
		{"gzip bomb in a gzip file", "wzdx", twice.Bytes(), "json"},
		{"damaged gzip file", "wzdx", bomb[:len(bomb)/2], ""},
		{"deep arrays", "wzdx", []byte(strings.Repeat("[", 200_000)), "too_deep"},
		{"deep arrays in an item", "wzdx", []byte(items + `{"properties":` + strings.Repeat("[", 200_000)), "too_deep"},
		{"long item", "wzdx", packed(t, items+`{"id":"`, "x", 200<<20, `"}]}`), "item"},
		{"long item of small parts", "wzdx", packed(t, items+`{"id":[`, "0,", 200<<20, `0]}]}`), "item"},
		{"many items", "wzdx", packed(t, items, "0,", 5<<20, "0]}"), "items"},
		{"same member twice", "wzdx", []byte(items + `{"id":1,"id":2}]}`), "json: byte "},
		{"no number", "wzdx", []byte(items + `{"geometry":{"type":"Point","coordinates":[NaN,1]}}]}`), "json: byte "},
		{"breaks off after good items", "wzdx", []byte(items + `{"id":"a","properties":{"core_details":{"event_type":"work-zone"}},"geometry":{"type":"Point","coordinates":[5,52]}},`), "json: byte "},
		{"no UTF-8", "wzdx", []byte(items + "{\"id\":\"\xFF\"}]}"), "json: byte "},
		{"UTF-16 that breaks off", "wzdx", inUTF16(`{"features":[{}`), "json: byte "},
	} {
		if err := os.WriteFile(file, tt.text, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(bin, "convert", "--from", tt.format, file)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		peak, _ := systemtest.RunWatched(cmd) // the conversion must fail: the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "document: "+tt.want) {
			t.Errorf("%s: code %d, %d bytes of output, %.300s", tt.name, code, stdout.Len(), stderr.String())
		}
		t.Logf("%s: %d MiB, %v", tt.name, peak>>10, cmd.ProcessState.UserTime())
		if peak<<10 > maxConvertMemory {
			t.Errorf("%s: %d MiB", tt.name, peak>>10)
		}
	}
}

// TestHostileDocumentsAtOnce polls 64 documents at the same time, each from another host, that are far larger than their compressed
// size or cost far more than their size suggests, while accounts check such documents, and checks that the service handles them one
// after the other (D17.16). A feed of another account is polled meanwhile.
func TestHostileDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	const documents, most, checkers, checks = 64, 300 << 20, 12, 3
	type hostile struct {
		format string
		body   []byte
	}
	kinds := []hostile{
		{"datex2", packed(t, "<a><situation>", "x", 200<<20, "</situation></a>")},
		{"wzdx", packed(t, `{"features":[{"id":"`, "x", 200<<20, `"}]}`)},
		{"wzdx", packed(t, `{"features":[{"id":[`, "0,", 200<<20, `0]}]}`)},
		{"ocpi", packed(t, `{"x":[`, "0,          ", 260<<20, "0]}")},
		{"datex2", packed(t, "<a", ` b="c"`, 12<<20, "/>")},
		{"traff", packed(t, "", "<a>", 600_000, "")},
		{"wzdx", packed(t, `{"features":[`, "0,", 5<<20, "0]}")},
		{"cifs", packed(t, `{"incidents":[`, strings.Repeat("[", 200_000), 1<<20, "")},
	}
	for _, c := range costlyDocuments(t) {
		if c.name != "records at many places (F6)" { // the rows of that one become pins, whose memory this test does not measure
			kinds = append(kinds, hostile{c.format, c.body})
		}
	}
	p := startPublisher(t)
	p.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" {
			_, _ = w.Write([]byte("[]"))
			return
		}
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")) // another path is document 0
		_, _ = w.Write(kinds[n%len(kinds)].body)
	})
	hosts := make([]string, documents)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("\"h%d.example.com\" = \"127.0.0.1\"", i)
	}
	s := systemtest.StartService(t, systemtest.Unlimited+strings.Replace(p.egress, `"example.com" = "127.0.0.1"`, strings.Join(hosts, ", "), 1))
	owner, other := s.SignIn("owner@example.org"), s.SignIn("other@example.org")
	var accounts []*systemtest.Client
	for i := range checkers {
		accounts = append(accounts, s.SignIn(fmt.Sprintf("checker%d@example.org", i)))
	}
	atRest := s.Memory(t, "VmHWM")
	checked := checkCostly(t, accounts, func(account, n int) (string, string) {
		at := len(kinds) - 1 - (account+5*n)%len(kinds)
		return fmt.Sprint(strings.Replace(p.base, "//", fmt.Sprintf("//h%d.", account), 1), "/", at), kinds[at].format
	}, checks)
	for i := range documents {
		url := strings.Replace(p.base, "//", fmt.Sprintf("//h%d.", i), 1)
		resp, body := owner.Do(http.MethodPost, "/v2/feeds", map[string]any{
			"name": "Hostile", "direction": "pull", "visibility": "private", "format": kinds[i%len(kinds)].format, "pull_url": fmt.Sprint(url, "/", i),
		})
		if resp.StatusCode != http.StatusCreated {
			t.Fatalf("register: %d %s", resp.StatusCode, body)
		}
	}
	resp, body := other.Do(http.MethodPost, "/v2/feeds", map[string]any{"name": "Good", "direction": "pull", "visibility": "private", "pull_url": strings.Replace(p.base, "//", "//h0.", 1) + "/good"})
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	ended := regexp.MustCompile(`"last_fetch_outcome":"(parse_error|too_large|ok)"`)
	deadline, tick := time.Now().Add(5*time.Minute), time.NewTicker(100*time.Millisecond) // documents are converted one after the other, which takes long on a busy machine
	defer tick.Stop()
	hostileLeft := -1 // when the good feed was polled
	for done := 0; done < documents; <-tick.C {
		_, said := owner.Do(http.MethodGet, "/v2/feeds", nil)
		if done = len(ended.FindAll(said, -1)); time.Now().After(deadline) {
			t.Fatalf("%d of %d documents are answered or refused", done, documents)
		}
		if _, good := other.Do(http.MethodGet, "/v2/feeds", nil); hostileLeft < 0 && strings.Contains(string(good), `"last_fetch_outcome":"ok"`) {
			hostileLeft = documents - done
		}
	}
	if hostileLeft <= 0 {
		t.Errorf("another feed waited for %d hostile ones", documents)
	}
	t.Logf("%d checks of %d were judged, and a good feed was polled while %d hostile documents waited", checked(), checkers*checks, hostileLeft)
	grown := s.Memory(t, "VmHWM") - atRest
	t.Logf("%d hostile documents at once: %d MiB more", documents, grown>>20)
	if grown > most {
		t.Errorf("%d MiB more, want at most %d", grown>>20, most>>20)
	}
}

// TestHostileItems converts one document of items that are each wrong in another way, and checks that only those items are lost.
func TestHostileItems(t *testing.T) {
	t.Parallel()
	bin, folder := testenv.Program(t), t.TempDir()
	var features []string
	add := func(id, core, geometry string) {
		features = append(features, fmt.Sprintf(`{"id":%s,"properties":{"core_details":{"event_type":"work-zone"%s}%s},"geometry":%s}`, id, core, "", geometry))
	}
	timed := func(id, start, end string) {
		features = append(features, fmt.Sprintf(`{"id":%q,"properties":{"core_details":{"event_type":"work-zone"},"start_date":%q,"end_date":%q},"geometry":{"type":"Point","coordinates":[5,52]}}`, id, start, end))
	}
	const point = `{"type":"Point","coordinates":[5,52]}`
	line := `{"type":"LineString","coordinates":[[5,52]` + strings.Repeat(`,[5.1,52.1],[5.2,52.2]`, 5000) + `]}`
	add(`"good"`, "", point)
	add(`"swapped"`, "", `{"type":"Point","coordinates":[39.7,-104.9]}`)
	add(`"far"`, "", `{"type":"Point","coordinates":[1e300,52]}`)
	add(`"words"`, "", `{"type":"Point","coordinates":["5","52"]}`)
	add(`"empty"`, "", `{"type":"Point","coordinates":[]}`)
	add(`"null"`, "", `null`)
	add(`"ten thousand"`, "", line)
	add(`"out of range in the middle"`, "", `{"type":"LineString","coordinates":[[5,52],[500,52],[5.1,52]]}`)
	add(`"`+strings.Repeat("x", 300)+`"`, "", point)
	add(`{"a":1}`, "", point)
	add(`12345678901234567890`, "", point)
	timed("ends before it starts", "2026-03-09T00:00:00Z", "2026-02-09T00:00:00Z")
	timed("year 1", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z")
	timed("year 9999", "2026-02-09T00:00:00Z", "9999-12-31T23:59:59Z")
	timed("no times", "soon", "9999-99-99")
	names := roadtest.HostileNames()
	for i, name := range names {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		add(fmt.Sprintf(`"hostile %d"`, i), fmt.Sprintf(`,"description":%s,"road_names":[%s],"direction":%s`, quoted, quoted, quoted), point)
	}
	file, report := filepath.Join(folder, "document.json"), filepath.Join(folder, "report.json")
	if err := os.WriteFile(file, []byte(`{"features":[`+strings.Join(features, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(bin, "convert", "--from", "wzdx", "--at", "2026-03-01T12:00:00Z", "--report", report, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ExternalID string         `json:"external_id"`
		Properties map[string]any `json:"properties"`
		TTL        int64          `json:"ttl_seconds"`
	}
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	var got struct { // the output of --report (D17.18)
		Rows, Rejected int
		Skipped        map[string]int
	}
	text, err := os.ReadFile(report)
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatal(err)
	}
	// Good are the first, both lines, the number as an id, three of the times, and the hostile strings. Rejected are two points out
	// of range, and the long id.
	if got.Rows != len(names)+7 || got.Rejected != 3 || got.Skipped["no_position"] != 3 || got.Skipped["no_id"] != 1 || got.Skipped["ended"] != 1 {
		t.Errorf("of %d items: %s", len(features), text)
	}
	tag := regexp.MustCompile(`<[a-zA-Z/!?][^<>]*>`)
	for _, row := range rows {
		if points, ok := row.Properties["line"].([]any); ok && (row.ExternalID != "ten thousand" || len(points) > 500 || len(points) < 100) {
			t.Errorf("%s: a line of %d positions", row.ExternalID, len(points))
		}
		for name, value := range row.Properties {
			if text, ok := value.(string); ok && (tag.MatchString(text) || strings.ContainsFunc(text, unicode.IsControl) || len([]rune(text)) > 1000) {
				t.Errorf("%s: %s is %q", row.ExternalID, name, text)
			}
		}
	}
}
