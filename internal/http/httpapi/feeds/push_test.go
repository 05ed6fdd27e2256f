package feeds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/token"
	"wayside/internal/http/httpapi/httpapitest"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestPushOverHTTP(t *testing.T) {
	d, owner, r := httpapitest.NewPushService(t)
	got := d.Push(*r.Token, `[
		{"external_id": "a", "kind": "camera.speed", "lat": 52, "lng": 5, "properties": {}},
		{"external_id": "b", "kind": "camera.none", "lat": 52, "lng": 5, "properties": {}},
		{"kind": "camera.speed", "lat": 52, "lng": 5, "properties": {}}, 7]`).Want(t, http.StatusOK)
	var report map[string]any
	got.Decode(t, &report)
	for _, e := range report["errors"].([]any) {
		delete(e.(map[string]any), "message")
	}
	want := map[string]any{"accepted": 1.0, "rejected": 3.0, "errors": []any{
		map[string]any{"index": 1.0, "external_id": "b", "code": "unknown_kind", "field": "kind"},
		map[string]any{"index": 2.0, "external_id": nil, "code": "missing_external_id", "field": "external_id"},
		map[string]any{"index": 3.0, "external_id": nil, "code": "not_an_object", "field": ""},
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if kind := got.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	if got := d.NearbyIDs(owner); len(got) != 1 {
		t.Errorf("the owner sees %v", got)
	}
	if got := d.NearbyIDs(d.Browser()); len(got) != 0 {
		t.Errorf("a guest sees %v of a pending feed", got)
	}
	d.Approve(r)
	if got := d.NearbyIDs(d.Browser()); len(got) != 1 {
		t.Errorf("a guest sees %v of an approved feed", got)
	}
	d.Push(*r.Token, `[{"external_id": "a", "kind": "camera.speed", "lat": 52, "lng": 5, "properties": {}, "ttl_seconds": 1}]`).Want(t, http.StatusOK)
	if got := d.NearbyIDs(owner); len(got) != 0 {
		t.Errorf("the owner sees %v, which was retired", got)
	}
	if body := strings.TrimSpace(d.Push(*r.Token, "[]").Want(t, http.StatusOK).Body); body != `{"accepted":0,"rejected":0,"errors":[]}` {
		t.Errorf("an empty batch: %s", body)
	}
}

// TestRepeatedPush checks D7.2: a repeated batch changes nothing but times.
func TestRepeatedPush(t *testing.T) {
	d, owner, r := httpapitest.NewPushService(t)
	read := func() []map[string]any {
		t.Helper()
		d.WaitForIndex()
		var a httpapitest.Answer
		owner.Send(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000", "").Decode(t, &a)
		return a.Entities
	}
	first := d.Push(*r.Token, httpapitest.Rows(3, 52, 5)).Want(t, http.StatusOK)
	before := read()
	d.Advance(time.Minute)
	if again := d.Push(*r.Token, httpapitest.Rows(3, 52, 5)).Want(t, http.StatusOK); again.Body != first.Body {
		t.Errorf("the report is %s, before it was %s", again.Body, first.Body)
	}
	for _, e := range before {
		e["last_seen_at"] = "2026-11-21T08:01:00.000Z"
	}
	if diff := cmp.Diff(before, read()); diff != "" || len(before) != 3 {
		t.Errorf("%d entities (-want +got):\n%s", len(before), diff)
	}
}

// TestPushEncodings checks D7.1.
func TestPushEncodings(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	batch := httpapitest.Rows(2, 52, 5)
	padded := batch + strings.Repeat(" ", limit-len(batch))
	bomb := gzipped(t, batch+strings.Repeat(" ", 64<<20))
	empty := gzipped(t, "")
	tests := []struct {
		name   string
		body   string
		header []string
		status int
	}{
		{"json", batch, nil, 200},
		{"json in utf-8", batch, []string{"Content-Type", "application/json; charset=utf-8"}, 200},
		{"json in UTF-8", batch, []string{"Content-Type", `Application/JSON;charset="UTF-8"`}, 200},
		{"with a byte order mark", "\ufeff" + batch, nil, 200},
		{"json in latin1", batch, []string{"Content-Type", "application/json; charset=iso-8859-1"}, 415},
		{"no type", batch, []string{"Content-Type", ""}, 415},
		{"text", batch, []string{"Content-Type", "text/plain"}, 415},
		{"a form, as curl -d sends it", batch, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"another json", batch, []string{"Content-Type", "application/geo+json"}, 415},
		{"two types", batch, []string{"Content-Type", "application/json, application/json"}, 415},
		{"gzip", gzipped(t, batch), []string{"Content-Encoding", "gzip"}, 200},
		{"GZIP", gzipped(t, batch), []string{"Content-Encoding", "GZIP"}, 200},
		{"identity", batch, []string{"Content-Encoding", "identity"}, 200},
		{"deflate", batch, []string{"Content-Encoding", "deflate"}, 415},
		{"zstd", batch, []string{"Content-Encoding", "zstd"}, 415},
		{"gzip twice", gzipped(t, gzipped(t, batch)), []string{"Content-Encoding", "gzip, gzip"}, 415},
		{"gzip that is none", batch, []string{"Content-Encoding", "gzip"}, 400},
		{"gzip that is empty", "", []string{"Content-Encoding", "gzip", "Content-Type", "application/json"}, 400},
		{"gzip cut off", gzipped(t, batch)[:20], []string{"Content-Encoding", "gzip"}, 400},
		{"gzip with a wrong checksum", strings.Replace(gzipped(t, batch), gzipped(t, batch)[len(gzipped(t, batch))-8:], "12345678", 1), []string{"Content-Encoding", "gzip"}, 400},
		{"gzip with something behind it", gzipped(t, batch) + "x", []string{"Content-Encoding", "gzip"}, 400},
		{"gzip in two members", gzipped(t, batch[:50]) + gzipped(t, batch[50:]), []string{"Content-Encoding", "gzip"}, 200},
		{"compressed and unsaid", gzipped(t, batch), nil, 400},
		{"empty", "", []string{"Content-Type", "application/json"}, 400},
		{"16 MiB", padded, nil, 200},
		{"a byte more", padded + " ", nil, 413},
		{"16 MiB in gzip", gzipped(t, padded), []string{"Content-Encoding", "gzip"}, 200},
		{"a byte more in gzip", gzipped(t, padded+" "), []string{"Content-Encoding", "gzip"}, 413},
		{"a gzip bomb", bomb, []string{"Content-Encoding", "gzip"}, 413},
		{"gzip of nothing, 18 MiB of it", strings.Repeat(empty, 18<<20/len(empty)), []string{"Content-Encoding", "gzip"}, 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, owner, r := httpapitest.NewPushService(t)
			got := d.Push(*r.Token, tt.body, tt.header...).Want(t, tt.status)
			want := 0
			if tt.status == http.StatusOK {
				want = 2
			} else if kind := got.Header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("Content-Type %q", kind)
			}
			if got := d.NearbyIDs(owner); len(got) != want {
				t.Errorf("%v are stored, want %d", got, want)
			}
		})
	}
}

// TestGzipBombIsCutOff checks that an endless body that expands a thousandfold is cut off after 16 MiB of expanded data.
func TestGzipBombIsCutOff(t *testing.T) {
	d, _, r := httpapitest.NewPushService(t)
	endless := &endlessReader{piece: gzipped(t, strings.Repeat(" ", 1<<20))}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/feeds/"+*r.Token+"/entities", endless)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	if w := d.Serve(req); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	if most := 18 * len(endless.piece); endless.read > most {
		t.Errorf("%d bytes were read, want at most %d", endless.read, most)
	}
}

// endlessReader repeats a chunk up to a gigabyte.
type endlessReader struct {
	piece string
	read  int
}

func (e *endlessReader) Read(p []byte) (int, error) {
	if e.read > 1<<30 {
		return 0, io.EOF
	}
	n := copy(p, e.piece[e.read%len(e.piece):])
	e.read += n
	return n, nil
}

// TestMalformedPushes checks Errors: Push ingestion, D3.11 and D7.2: nothing is stored, and the failure counts in the
// feed's health (D4.15).
func TestMalformedPushes(t *testing.T) {
	t.Parallel()
	row := `{"external_id": "a", "kind": "camera.speed", "lat": 52, "lng": 5, "properties": {}}`
	tests := []struct {
		name, body, detail string
		outcome            mapdata.Outcome
	}{
		{"an object around it", `{"entities": [` + row + `]}`, "must be a JSON array", mapdata.OutcomeNotAnArray},
		{"one row without an array", row, "must be a JSON array", mapdata.OutcomeNotAnArray},
		{"null", `null`, "must be a JSON array", mapdata.OutcomeNotAnArray},
		{"a string", `"[]"`, "must be a JSON array", mapdata.OutcomeNotAnArray},
		{"cut off", `[` + row + `,`, "one JSON text", mapdata.OutcomeParseError},
		{"something behind it", `[` + row + `] []`, "one JSON text", mapdata.OutcomeParseError},
		{"one row a line", row + "\n" + row, "one JSON text", mapdata.OutcomeParseError},
		{"not UTF-8", "[" + strings.Replace(row, `"a"`, "\"\xff\"", 1) + "]", "one JSON text", mapdata.OutcomeParseError},
		{"nested too deep", `[` + row + `,` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `]`, "one JSON text", mapdata.OutcomeParseError},
		{"5 001 rows", httpapitest.Rows(5001, 52, 5), "at most 5000 rows", mapdata.OutcomeTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, owner, r := httpapitest.NewPushService(t)
			got := d.Push(*r.Token, tt.body).Want(t, http.StatusBadRequest)
			if !strings.Contains(got.Body, tt.detail) || !strings.Contains(got.Body, "Nothing was stored") {
				t.Errorf("the detail lacks %q: %s", tt.detail, got.Body)
			}
			if ids := d.NearbyIDs(owner); len(ids) != 0 {
				t.Errorf("%v are stored", ids)
			}
			id, _ := mapdata.ParseFeedID(r.ID())
			attempts, err := d.DB.Timeline(t.Context(), id, time.Time{}, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(attempts) != 1 {
				t.Fatalf("attempts %+v", attempts)
			}
			if tooMany := tt.outcome == mapdata.OutcomeTooLarge; (attempts[0].Reason == mapdata.ReasonRows) != tooMany {
				t.Errorf("reason %q of %s", attempts[0].Reason, tt.outcome)
			}
			attempts[0].Reason = ""
			if want := []mapdata.Attempt{{At: httpapitest.Start, Outcome: tt.outcome, Bytes: int64(len(tt.body))}}; !cmp.Equal(want, attempts) {
				t.Errorf("attempts (-want +got):\n%s", cmp.Diff(want, attempts))
			}
		})
	}
	t.Run("5 000 rows are a batch", func(t *testing.T) {
		d, _, r := httpapitest.NewPushService(t)
		got := d.Push(*r.Token, httpapitest.Rows(5000, 52, 5)).Want(t, http.StatusOK)
		if !strings.HasPrefix(got.Body, `{"accepted":5000,"rejected":0,`) {
			t.Error(got.Body)
		}
	})
}

// TestRefusedPushesCountInHealth checks D4.15: the accepted and refused pushes of the last hour.
func TestRefusedPushesCountInHealth(t *testing.T) {
	d, _, r := httpapitest.NewPushService(t)
	d.Approve(r)
	health := func() any {
		t.Helper()
		d.WaitForIndex()
		var a httpapitest.Answer
		d.Browser().Send(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000", "").Decode(t, &a)
		if len(a.Sources) != 1 {
			t.Fatalf("%d sources", len(a.Sources))
		}
		return fmt.Sprint(a.Sources[0]["status"], " ", a.Sources[0]["recent"])
	}
	for _, step := range []struct {
		body string
		want string
	}{
		{httpapitest.Rows(1, 52, 5), "online map[fail:0 ok:1 total:1]"},
		{`{`, "degraded map[fail:1 ok:1 total:2]"},
		{`[7]`, "online map[fail:1 ok:2 total:3]"},
	} {
		d.Advance(time.Second)
		d.Push(*r.Token, step.body)
		d.WaitForIndex()
		d.Advance(time.Second) // until the cached health has expired
		if got := health(); got != step.want {
			t.Errorf("after %.10s…: %v, want %v", step.body, got, step.want)
		}
	}
}

// TestInvalidPushTokens checks D5.1, D7.4 and D7.5.
func TestInvalidPushTokens(t *testing.T) {
	d, owner, r := httpapitest.NewPushService(t)
	deleted := owner.RegisterPush("Deleted")
	owner.Send(http.MethodDelete, deleted.Path(), "").Want(t, http.StatusNoContent)
	inactive := owner.RegisterPush("Inactive")
	owner.Send(http.MethodPatch, inactive.Path(), `{"active": false}`).Want(t, http.StatusOK)
	rotated := owner.RegisterPush("Rotated")
	owner.Send(http.MethodPost, rotated.Path()+"/rotate-token", "").Want(t, http.StatusOK)
	pull := owner.Register(`{"name": "Roads", "direction": "pull", "pull_url": "https://example.org/"}`)
	mistyped := []byte(*r.Token)
	mistyped[10] ^= 1
	refused := map[string]string{
		"never given out": token.New(token.Push), "of a deleted feed": *deleted.Token, "of a deactivated feed": *inactive.Token,
		"replaced": *rotated.Token, "mistyped": string(mistyped), "an API token": token.New(token.API), "a feed's id": r.ID(),
		"a pull feed's id": pull.ID(), "no token": "x", "another case": strings.ToUpper(*r.Token), "escaped": "%00", "very long": strings.Repeat("a", 4000),
	}
	bodies := map[string]bool{}
	for name, text := range refused {
		got := d.Push(text, httpapitest.Rows(1, 52, 5))
		if got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", name, got.Status)
		}
		if kind := got.Header.Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%s: Content-Type %q", name, kind)
		}
		bodies[got.Body] = true
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/feeds/"+text+"/entities", unreadBody{t})
		req.Header.Set("Content-Type", "application/json")
		if w := d.Serve(req); w.Code != http.StatusUnauthorized {
			t.Errorf("%s, with a body that must not be read: %d", name, w.Code)
		}
	}
	if len(bodies) != 1 {
		t.Errorf("%d different responses to refused tokens: %v", len(bodies), bodies)
	}
	d.Push(*r.Token, httpapitest.Rows(1, 52, 5)).Want(t, http.StatusOK)
	if got := d.NearbyIDs(owner); len(got) != 1 {
		t.Errorf("%v are stored", got)
	}
	owner.Send(http.MethodPatch, inactive.Path(), `{"active": true}`).Want(t, http.StatusOK)
	d.Push(*inactive.Token, "[]").Want(t, http.StatusOK)
	owner.Send(http.MethodPatch, inactive.Path(), `{"active": false}`).Want(t, http.StatusOK)
	d.Push(*inactive.Token, "[]").Want(t, http.StatusUnauthorized)
	if strings.Contains(d.Log.String(), "wsp_") {
		t.Error("a token is in the log")
	}
}

// TestUnknownPushTokensAreLimited checks D7.5.
func TestUnknownPushTokensAreLimited(t *testing.T) {
	d, _, r := httpapitest.NewPushService(t)
	const client, other = "192.0.2.7", "192.0.2.8"
	try := func(text, from string) httpapitest.Reply {
		return d.Push(text, "[]", "X-Forwarded-For", from)
	}
	for i := range 60 {
		text := token.New(token.Push)
		if i%2 == 0 {
			text = "mistyped"
		}
		try(text, client).Want(t, http.StatusUnauthorized)
	}
	late := try(token.New(token.Push), client).Want(t, http.StatusTooManyRequests)
	if got := late.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	try("mistyped", client).Want(t, http.StatusTooManyRequests)
	try("mistyped", other).Want(t, http.StatusUnauthorized)
	try(*r.Token, client).Want(t, http.StatusOK) // a provider may share the client address with an attacker
	d.Advance(time.Second)
	try("mistyped", client).Want(t, http.StatusUnauthorized)
}

// badRows makes a batch of n rows that count against the rate like valid ones but take less time.
func badRows(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("7,", n), ",") + "]" }

// TestPushRates checks D7.3.
func TestPushRates(t *testing.T) {
	t.Parallel()
	retryAfter := func(t *testing.T, r httpapitest.Reply) time.Duration {
		t.Helper()
		seconds, err := strconv.Atoi(r.Want(t, http.StatusTooManyRequests).Header.Get("Retry-After"))
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(seconds) * time.Second
	}
	// Refusals of one address are delayed by a second each beyond some.
	elsewhere := func(i int) []string { return []string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i+1)} }
	t.Run("requests", func(t *testing.T) {
		d, owner, r := httpapitest.NewPushService(t)
		second := owner.RegisterPush("Second")
		for i := range 60 { // a refused body counts too
			d.Push(*r.Token, map[bool]string{true: "[]", false: "{}"}[i%2 == 0])
		}
		wait := retryAfter(t, d.Push(*r.Token, httpapitest.Rows(1, 52, 5)))
		if wait != time.Second {
			t.Errorf("Retry-After %v", wait)
		}
		if got := d.NearbyIDs(owner); len(got) != 0 {
			t.Errorf("%v are stored", got)
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/feeds/"+*r.Token+"/entities", unreadBody{t})
		req.Header.Set("Content-Type", "application/json")
		if w := d.Serve(req); w.Code != http.StatusTooManyRequests {
			t.Errorf("with a body that must not be read: %d", w.Code)
		}
		d.Push(*second.Token, "[]").Want(t, http.StatusOK)
		d.Advance(wait)
		d.Push(*r.Token, httpapitest.Rows(1, 52, 5)).Want(t, http.StatusOK)
		retryAfter(t, d.Push(*r.Token, "[]"))
	})
	t.Run("rows", func(t *testing.T) {
		d, owner, r := httpapitest.NewPushService(t)
		d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		d.Push(*r.Token, badRows(4000)).Want(t, http.StatusOK)
		batch := httpapitest.Rows(3000, 52, 5)
		wait := retryAfter(t, d.Push(*r.Token, batch))
		if wait != 12*time.Second { // 1 000 rows are left; 2 000 more come in 12 s
			t.Errorf("Retry-After %v", wait)
		}
		if got := d.NearbyIDs(owner); len(got) != 0 {
			t.Errorf("%d rows of a refused batch are stored", len(got))
		}
		d.Push(*r.Token, badRows(900)).Want(t, http.StatusOK) // the refused batch does not count against the limit
		wait = retryAfter(t, d.Push(*r.Token, batch))
		if wait != 18*time.Second {
			t.Errorf("Retry-After %v", wait)
		}
		d.Advance(wait - time.Second)
		retryAfter(t, d.Push(*r.Token, batch))
		d.Advance(time.Second)
		d.Push(*r.Token, batch).Want(t, http.StatusOK)
	})
	t.Run("refused for their rows, they take no request", func(t *testing.T) {
		d, _, r := httpapitest.NewPushService(t)
		d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		for i := range 50 {
			retryAfter(t, d.Push(*r.Token, httpapitest.Rows(1, 52, 5), elsewhere(i)...))
		}
		for range 58 {
			d.Push(*r.Token, "[]").Want(t, http.StatusOK)
		}
		retryAfter(t, d.Push(*r.Token, "[]"))
	})
	t.Run("who never waits is read no more", func(t *testing.T) {
		d, _, r := httpapitest.NewPushService(t)
		d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		for i := range 60 {
			retryAfter(t, d.Push(*r.Token, httpapitest.Rows(1, 52, 5), elsewhere(i)...))
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/feeds/"+*r.Token+"/entities", unreadBody{t})
		req.Header.Set("Content-Type", "application/json")
		if w := d.Serve(req); w.Code != http.StatusTooManyRequests {
			t.Errorf("%d", w.Code)
		}
	})
	t.Run("rows without a limit", func(t *testing.T) {
		d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60})
		r := d.SignedInAs("owner@example.com", mapdata.Driver).RegisterPush("Cameras")
		for range 4 {
			d.Push(*r.Token, badRows(5000)).Want(t, http.StatusOK)
		}
	})
}

// TestPushOnAFullDisk checks D7.2 and mapdata.ErrUnavailable: nothing is stored in part, and the 503 has Retry-After.
func TestPushOnAFullDisk(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, MaxPages: 160})
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	r := owner.RegisterPush("Cameras")
	d.Push(*r.Token, httpapitest.Rows(10, 52, 5)).Want(t, http.StatusOK)
	got := d.Push(*r.Token, httpapitest.Rows(5000, 52, 5)).Want(t, http.StatusServiceUnavailable)
	if got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if ids := d.NearbyIDs(owner); len(ids) != 10 {
		t.Errorf("%d are stored, 10 were acknowledged", len(ids))
	}
	d.Push(*r.Token, httpapitest.Rows(20, 52, 5)).Want(t, http.StatusOK)
}

// TestTruncatedPushBody checks that a truncated body stores nothing and does not count as the provider's attempt.
func TestTruncatedPushBody(t *testing.T) {
	d, owner, r := httpapitest.NewPushService(t)
	for _, encoding := range []string{"identity", "gzip"} {
		body := httpapitest.Rows(10, 52, 5)
		if encoding == "gzip" {
			body = gzipped(t, body)
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/feeds/"+*r.Token+"/entities", &brokenReader{strings.NewReader(body[:20])})
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", encoding)
		if w := d.Serve(req); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d: %s", encoding, w.Code, w.Body)
		}
	}
	if ids := d.NearbyIDs(owner); len(ids) != 0 {
		t.Errorf("%v are stored", ids)
	}
	id, _ := mapdata.ParseFeedID(r.ID())
	if attempts, err := d.DB.Timeline(t.Context(), id, time.Time{}, 100); err != nil || len(attempts) != 0 {
		t.Errorf("%d attempts, %v", len(attempts), err)
	}
}

// brokenReader fails before the end of its text.
type brokenReader struct{ r *strings.Reader }

var errBroken = errors.New("connection reset")

func (b *brokenReader) Read(p []byte) (int, error) {
	if n, err := b.r.Read(p); err == nil {
		return n, nil
	}
	return 0, errBroken
}

// TestPushOfDisconnectedClient checks that a client that disconnects leaves no failure in the log.
func TestPushOfDisconnectedClient(t *testing.T) {
	d, _, r := httpapitest.NewPushService(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v2/feeds/"+*r.Token+"/entities", strings.NewReader(httpapitest.Rows(1, 52, 5)))
	req.Header.Set("Content-Type", "application/json")
	d.Serve(req)
	if got := d.Log.String(); strings.Contains(got, "ERROR") {
		t.Error(got)
	}
}

// unreadBody is a body whose reading fails the test.
type unreadBody struct{ t *testing.T }

func (u unreadBody) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}
