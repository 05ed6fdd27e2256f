package refprovider

import (
	"crypto/sha256"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/geo"
)

// MaxAge is how long a snapshot is answered from after it was read: older rows are not live incidents any more, and the provider
// answers that it has none (Limits, live incident freshness).
const MaxAge = 5 * time.Minute

// Config holds the settings of a Provider.
type Config struct {
	Secret string // that callers send as X-Service-Auth; empty: unset, and every call is answered with 503
	Now    func() time.Time
	Log    *slog.Logger // never gets a position, a tenant or a secret
}

// Provider answers relay calls. It may be used from many goroutines.
type Provider struct {
	now      func() time.Time
	log      *slog.Logger
	unset    bool
	secret   [sha256.Size]byte
	snapshot atomic.Pointer[snapshot] // nil: none yet

	mu     sync.Mutex
	first  map[string]time.Time // when rows of the last text were first read, by external id
	logged map[string]int       // the rejections logged last, by code
}

// snapshot holds the rows that the provider answers from. It is immutable.
type snapshot struct {
	rows []Row
	at   time.Time
}

// New returns a Provider without rows.
func New(c Config) *Provider {
	return &Provider{now: c.Now, log: c.Log, unset: c.Secret == "", secret: sha256.Sum256([]byte(c.Secret))}
}

// Row is one valid row, encoded for answers. Decode makes them.
type Row struct {
	place  geo.Vector
	entity []byte // as a v1 entity
	raw    []byte // as an item of the raw form; nil: that form cannot express it
	jam    bool   // the item is one of jams, not of alerts
}

// Decode parses a JSON array of at most ingest.MaxBatchRows v1 rows (D3). It leaves out invalid rows, and logs their number by code
// when that differs from the last time. It fails as ingest.DecodeBatch does when the whole text is malformed; the rows of the last
// Set stay then.
func (p *Provider) Decode(body []byte) ([]Row, error) {
	now := p.now().UTC()
	batch, err := ingest.DecodeBatch(body, now)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := make([]Row, 0, batch.Rows())
	first := make(map[string]time.Time, batch.Rows())
	for _, row := range batch.All() {
		// An item of the raw form needs a time of publication: without observed_at, the time when the row was first read.
		known, ok := p.first[row.ExternalID]
		if !ok {
			known = now
		}
		first[row.ExternalID] = known
		made, err := encode(row, known)
		if err != nil {
			return nil, err
		}
		rows = append(rows, made)
	}
	p.first = first
	p.logRejections(batch.Report())
	return rows, nil
}

// logRejections logs the number of rejections by code, when it has changed.
func (p *Provider) logRejections(report ingest.Report) {
	codes := make(map[string]int)
	for _, e := range report.Errors {
		codes[e.Code]++
	}
	if more := report.Rejected - len(report.Errors); more > 0 {
		codes["others"] = more // a report names the first hundred
	}
	if maps.Equal(codes, p.logged) {
		return
	}
	p.logged = codes
	if report.Rejected == 0 {
		p.log.Info("no row is rejected any more")
		return
	}
	counts := make([]any, 0, len(codes))
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		counts = append(counts, slog.Int(code, codes[code]))
	}
	p.log.Warn("rows are rejected and left out; wayside validate shows which",
		"accepted", report.Accepted, "rejected", report.Rejected, slog.Group("codes", counts...))
}

// Set replaces the snapshot by rows, which are complete as of the time at. Answers carry that time as fetched_at_utc. A
// caller that finds the same rows still valid sets them again with the new time; otherwise answers repeat the old time as
// replays, and end after MaxAge. The rows must not be changed afterwards.
func (p *Provider) Set(rows []Row, at time.Time) {
	p.snapshot.Store(&snapshot{rows: rows, at: at.UTC().Truncate(time.Millisecond)})
}

// current returns the snapshot, or nil if there is none that is young enough.
func (p *Provider) current() *snapshot {
	s := p.snapshot.Load()
	if s == nil || p.now().Sub(s.at) > MaxAge {
		return nil
	}
	return s
}
