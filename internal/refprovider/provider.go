package refprovider

import (
	"crypto/sha256"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/geo"
	"wayside/internal/ingest"
)

// MaxAge is how long a snapshot is answered from after it was read: what is older is no live incident any more, and the
// provider says that it has none (Limits, live incident freshness).
const MaxAge = 5 * time.Minute

// Config is what a Provider needs.
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

	mu    sync.Mutex
	first map[string]time.Time // when rows of the last text were first read, by external id
	told  map[string]int       // the rejections logged last, by code
}

// snapshot is what the provider knows. It does not change.
type snapshot struct {
	rows []Row
	at   time.Time
}

// New makes a Provider that knows nothing yet.
func New(c Config) *Provider {
	return &Provider{now: c.Now, log: c.Log, unset: c.Secret == "", secret: sha256.Sum256([]byte(c.Secret))}
}

// Row is one good row, ready to be answered with. Decode makes them.
type Row struct {
	place  geo.Vector
	entity []byte // as a v1 entity
	raw    []byte // as an item of the raw form; nil: that form has no word for it
	jam    bool   // the item is one of jams, not of alerts
}

// Decode reads a JSON array of at most ingest.MaxBatchRows v1 rows (D3). Bad rows are left out; how many, and by which
// codes, is logged when it is not what was logged last. It fails, as ingest.DecodeBatch does, when the text as a whole is
// no good; what Set was given stays then.
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
		// An item of the raw form must say when it was published. A row that does not tell was first read some time.
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
	p.tell(batch.Report())
	return rows, nil
}

// tell logs what was rejected, once.
func (p *Provider) tell(report ingest.Report) {
	codes := make(map[string]int)
	for _, e := range report.Errors {
		codes[e.Code]++
	}
	if more := report.Rejected - len(report.Errors); more > 0 {
		codes["others"] = more // a report names the first hundred
	}
	if maps.Equal(codes, p.told) {
		return
	}
	p.told = codes
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

// Set replaces what the provider knows by rows, which were found to be all that there is at the time at. Answers carry
// that time as fetched_at_utc: who finds the same rows again, and vouches for them, sets them again with the new time;
// a snapshot that is not set again is a replay, says the same time in every answer, and ends after MaxAge. The rows must
// not change any more.
func (p *Provider) Set(rows []Row, at time.Time) {
	p.snapshot.Store(&snapshot{rows: rows, at: at.UTC().Truncate(time.Millisecond)})
}

// current is the snapshot, or nil when there is none that is young enough.
func (p *Provider) current() *snapshot {
	s := p.snapshot.Load()
	if s == nil || p.now().Sub(s.at) > MaxAge {
		return nil
	}
	return s
}
