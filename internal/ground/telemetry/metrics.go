package telemetry

import (
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what the service does. Its methods may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	rows     *prometheus.CounterVec
	polls    *prometheus.CounterVec
	skipped  *prometheus.CounterVec
	emails   *prometheus.CounterVec
	calls    *prometheus.CounterVec
	dropped  *prometheus.CounterVec
	engine   *prometheus.CounterVec
	cache    *prometheus.CounterVec
	drops    labels
	routes   sync.Map // pattern → *route: looking labels up on each request would cost more than the count
}

// route holds the counters of one route.
type route struct {
	seconds prometheus.Observer
	classes [6]prometheus.Counter // by hundreds of the status; 0: no status
}

// statusClasses are the label values, by the hundreds of the status.
var statusClasses = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

// NewMetrics returns metrics in a new registry; version is that of the service.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_http_requests_total", Help: "Requests answered, by route and class of status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wayside_http_request_seconds", Help: "Time to answer, by route.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_push_rows_total", Help: "Rows pushed, by result: accepted or rejected.",
		}, []string{"result"}),
		skipped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_feed_skipped_items_total", Help: "Items of documents in other formats that became no row, by format and reason.",
		}, []string{"format", "reason"}),
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_polls_total", Help: "Polls of pull feeds, by outcome.",
		}, []string{"outcome"}),
		emails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_emails_total", Help: "Attempts to send an e-mail, by result: sent or failed.",
		}, []string{"result"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_upstream_calls_total", Help: "Calls of relay upstreams, by upstream and outcome.",
		}, []string{"upstream", "outcome"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_upstream_dropped_total", Help: "Rows and raw items of upstreams that were dropped, by upstream and why: an unknown type, or the code of a rejection.",
		}, []string{"upstream", "what"}),
		engine: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_engine_calls_total", Help: "Calls of a remote engine that finds routes, by outcome.",
		}, []string{"outcome"}),
		cache: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wayside_cache_errors_total", Help: "Calls of the shared cache that failed, by call.",
		}, []string{"call"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "wayside_build_info", Help: "Always 1; the label tells the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.rows, m.polls, m.skipped, m.emails, m.calls, m.dropped, m.engine, m.cache, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts an answer. pattern is the route's pattern, never the path of a request, because a path may contain a token.
func (m *Metrics) Request(pattern string, status int, took time.Duration) {
	known, ok := m.routes.Load(pattern)
	if !ok {
		r := &route{seconds: m.seconds.WithLabelValues(pattern)}
		for i, class := range statusClasses {
			r.classes[i] = m.requests.WithLabelValues(pattern, class)
		}
		known, _ = m.routes.LoadOrStore(pattern, r)
	}
	r, _ := known.(*route) // no other type is stored
	class := status / 100
	if class < 0 || class >= len(r.classes) {
		class = 0
	}
	r.classes[class].Inc()
	r.seconds.Observe(took.Seconds())
}

// PushRows counts the rows of one push.
func (m *Metrics) PushRows(accepted, rejected int) {
	m.rows.WithLabelValues("accepted").Add(float64(accepted))
	m.rows.WithLabelValues("rejected").Add(float64(rejected))
}

// Poll counts one poll; outcome is one of D6.7.
func (m *Metrics) Poll(outcome string) { m.polls.WithLabelValues(outcome).Inc() }

// SkippedItems counts items of a poll that became no row. Both labels are words of this program.
func (m *Metrics) SkippedItems(format, reason string, items int) {
	m.skipped.WithLabelValues(format, reason).Add(float64(items))
}

// Email counts one attempt to send an e-mail.
func (m *Metrics) Email(sent bool) {
	result := "failed"
	if sent {
		result = "sent"
	}
	m.emails.WithLabelValues(result).Inc()
}

// CacheFailed counts a call of the shared cache that failed.
func (m *Metrics) CacheFailed(call string) { m.cache.WithLabelValues(call).Inc() }

// Gauge registers a value that is computed by read whenever the metrics are scraped, from any goroutine. Each name can be
// registered once.
func (m *Metrics) Gauge(name, help string, read func() float64) error {
	return m.registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Counter registers a count that only rises, under the same conditions as Gauge.
func (m *Metrics) Counter(name, help string, read func() float64) error {
	return m.registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// Info registers a metric that is always 1 and informs by its labels, whose values are read whenever the metrics are scraped, from
// any goroutine. Without values the metric is left out.
func (m *Metrics) Info(name, help string, labels []string, read func() []string) error {
	return m.registry.Register(&info{prometheus.NewDesc(name, help, labels, nil), read})
}

// info collects a metric of Info.
type info struct {
	desc *prometheus.Desc
	read func() []string
}

// Describe implements prometheus.Collector.
func (i *info) Describe(to chan<- *prometheus.Desc) { to <- i.desc }

// Collect implements prometheus.Collector.
func (i *info) Collect(to chan<- prometheus.Metric) {
	if values := i.read(); values != nil {
		to <- prometheus.MustNewConstMetric(i.desc, prometheus.GaugeValue, 1, values...)
	}
}

// Handler serves /metrics and /debug/pprof, for the operator's address.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// UpstreamCall counts a call of a relay upstream.
func (m *Metrics) UpstreamCall(upstream, outcome string) {
	m.calls.WithLabelValues(upstream, outcome).Inc()
}

// EngineCall counts a call of a remote engine.
func (m *Metrics) EngineCall(outcome string) { m.engine.WithLabelValues(outcome).Inc() }

// UpstreamDropped counts a row of an upstream that is not shown. Upstreams choose the words: the first maxLabels words have
// separate labels, all others share one.
func (m *Metrics) UpstreamDropped(upstream, what string) {
	m.dropped.WithLabelValues(upstream, m.drops.admit(what)).Inc()
}

// maxLabels bounds how many words of upstreams become labels.
const maxLabels = 300

// labels is the set of words that became labels. The zero value is empty.
type labels struct {
	mu    sync.Mutex
	known map[string]bool
}

// admit returns the word, or "other" if there are maxLabels others already.
func (l *labels) admit(word string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.known[word]:
		return word
	case len(l.known) == maxLabels:
		return "other"
	case l.known == nil:
		l.known = make(map[string]bool)
	}
	l.known[word] = true
	return word
}
