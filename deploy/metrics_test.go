package deploy

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/telemetry"
	"wayside/internal/proof/testenv"
)

// TestMetrics checks that the dashboard, the alerts and the manual use only metrics that a node exports, with their labels, because
// a panel of a missing metric is empty, and an alert on it never fires.
func TestMetrics(t *testing.T) {
	exported := exportedMetrics(t)
	expressions := append(panelExpressions(t), alertExpressions(t)...)
	if len(expressions) < 30 {
		t.Fatalf("%d expressions: the files are not read", len(expressions))
	}
	name := regexp.MustCompile(`\b(?:wayside|go|process|promhttp)_[a-z0-9_]+\b`)
	labels := regexp.MustCompile(`\{([^}]*)\}|\bby \(([^)]*)\)`)
	for _, expression := range expressions {
		known := map[string]bool{"job": true, "instance": true, "le": true} // Prometheus adds the first two
		for _, metric := range name.FindAllString(labels.ReplaceAllString(expression, ""), -1) {
			if exported[metric] == nil {
				t.Errorf("no node exports %s: %s", metric, expression)
			}
			maps.Copy(known, exported[metric])
		}
		for _, group := range labels.FindAllStringSubmatch(expression, -1) {
			for part := range strings.SplitSeq(group[1]+group[2], ",") {
				if label := regexp.MustCompile(`^\s*[a-z_]*`).FindString(part); !known[strings.TrimSpace(label)] {
					t.Errorf("no label %q: %s", label, expression)
				}
			}
		}
	}
	// The manual must list every metric of the service.
	manual := read(t, "../docs/operating.md") + read(t, "../docs/operating/regions.md")
	for metric := range exported {
		metric = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, "")
		if strings.HasPrefix(metric, "wayside_") && !strings.Contains(manual, "`"+metric) {
			t.Errorf("neither docs/operating.md nor docs/operating/regions.md mentions %s", metric)
		}
	}
}

// exportedMetrics returns the names and labels that a node exports: those of a real one at its ops address, and those of its
// registry after pushes, polls, e-mails and upstreams were counted.
func exportedMetrics(t *testing.T) map[string]map[string]bool {
	t.Helper()
	n := startNode(t, testenv.Program(t), "http://127.0.0.1", "")
	resp, err := http.Get("http://" + n.ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := telemetry.NewMetrics("1")
	m.Request("/v2/entities/nearby", http.StatusOK, time.Millisecond)
	m.PushRows(1, 1)
	m.Poll("ok")
	m.Email(true)
	m.UpstreamCall("a", "ok")
	m.UpstreamDropped("a", "b")
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))

	exported := make(map[string]map[string]bool)
	sample := regexp.MustCompile(`^([a-z0-9_]+)(?:\{(.*)\})? `)
	label := regexp.MustCompile(`([a-z_]+)="`)
	for line := range strings.Lines(string(text) + rec.Body.String()) {
		found := sample.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if exported[found[1]] == nil {
			exported[found[1]] = make(map[string]bool)
		}
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			exported[found[1]][l[1]] = true
		}
	}
	return exported
}

// panelExpressions returns the queries of the dashboard.
func panelExpressions(t *testing.T) []string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal([]byte(read(t, "grafana.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	var expressions []string
	var ids []int
	for _, p := range dashboard.Panels {
		if slices.Contains(ids, p.ID) || p.Title == "" {
			t.Errorf("panel %d %q", p.ID, p.Title)
		}
		ids = append(ids, p.ID)
		for _, target := range p.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	for _, v := range dashboard.Templating.List {
		if inner, ok := strings.CutPrefix(v.Query, "label_values("); ok {
			expression, _, _ := strings.Cut(inner, ", ")
			expressions = append(expressions, expression)
		}
	}
	return expressions
}

// alertExpressions returns the conditions of the alerts.
func alertExpressions(t *testing.T) []string {
	t.Helper()
	var expressions []string
	for _, found := range regexp.MustCompile(`(?m)^ +expr: (.+)$`).FindAllStringSubmatch(read(t, "alerts.yml"), -1) {
		expressions = append(expressions, found[1])
	}
	return expressions
}
