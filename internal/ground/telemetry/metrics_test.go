package telemetry

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return string(body)
}

func TestMetrics(t *testing.T) {
	m := NewMetrics("1.2.3")
	m.Request("/v2/kinds", 200, time.Millisecond)
	m.Request("/v2/kinds", 204, time.Millisecond)
	m.Request("/v2/kinds", 404, time.Millisecond)
	m.Request("/v2/feeds/{token}/entities", 999, time.Millisecond)
	m.PushRows(7, 2)
	m.Poll("ok")
	m.Email(true)
	m.Email(false)
	if err := m.Gauge("wayside_index_entities", "Entities in the index.", func() float64 { return 42 }); err != nil {
		t.Fatal(err)
	}
	got := get(t, m.Handler(), "/metrics")
	for _, line := range []string{
		`wayside_http_requests_total{route="/v2/kinds",status="2xx"} 2`,
		`wayside_http_requests_total{route="/v2/kinds",status="4xx"} 1`,
		`wayside_http_requests_total{route="/v2/feeds/{token}/entities",status="none"} 1`,
		`wayside_http_request_seconds_count{route="/v2/kinds"} 3`,
		`wayside_http_request_seconds_bucket{route="/v2/kinds",le="0.001"} 3`,
		`wayside_push_rows_total{result="accepted"} 7`,
		`wayside_push_rows_total{result="rejected"} 2`,
		`wayside_polls_total{outcome="ok"} 1`,
		`wayside_emails_total{result="sent"} 1`,
		`wayside_emails_total{result="failed"} 1`,
		`wayside_index_entities 42`,
		`wayside_build_info{version="1.2.3"} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing", line)
		}
	}
}

func TestGaugeNamesAreUnique(t *testing.T) {
	m := NewMetrics("1")
	read := func() float64 { return 0 }
	if err := m.Gauge("a", "", read); err != nil {
		t.Fatal(err)
	}
	if m.Gauge("a", "", read) == nil {
		t.Error("the same name twice is no error")
	}
}

func TestProfiles(t *testing.T) {
	if got := get(t, NewMetrics("1").Handler(), "/debug/pprof/goroutine?debug=1"); !strings.Contains(got, "goroutine profile") {
		t.Errorf("got %q", got)
	}
}

func TestLogForms(t *testing.T) {
	tests := []struct {
		name, level string
		terminal    bool
		want, never string
	}{
		{"people", "info", true, "level=WARN msg=careful n=1", "{"},
		{"programs", "info", false, `"level":"WARN","msg":"careful","n":1`, "details"},
		{"details", "debug", false, `"msg":"details"`, "level="},
		{"failures only", "error", false, "", "careful"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			log := NewLog(&out, tt.level, tt.terminal)
			log.Debug("details")
			log.Warn("careful", "n", 1)
			if !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), tt.never) {
				t.Errorf("got %q", out.String())
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	m := NewMetrics("1")
	b.ReportAllocs()
	for b.Loop() {
		m.Request("/v2/entities/nearby", 200, time.Millisecond)
	}
}

// TestLabelsAreBounded checks that the first 300 words of upstreams become labels, and that the others share one.
func TestLabelsAreBounded(t *testing.T) {
	var words labels
	others := 0
	for i := range 1000 {
		if words.admit(strconv.Itoa(i)) == "other" {
			others++
		}
	}
	if others != 700 || words.admit("299") != "299" || words.admit("300") != "other" {
		t.Errorf("%d of 1000 words share a label, want 700", others)
	}
}
