package trial

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// Limits of a bridged feed's documents, all pages of a poll together (D17.12, D17.13).
const (
	maxWire     = 64 << 20 // bytes as they are sent
	maxPages    = 1000
	maxFetching = 120 * time.Second

	// nextWork bounds the work of finding the next pages in the documents themselves, which are then read once more: enough for 256 MiB of
	// JSON, and for 120 MiB of XML.
	nextWork = format.MaxWork / 4
)

// Target describes the requests for one reading of a feed.
type Target struct {
	URL        *safehttp.URL
	Status     *safehttp.URL // of the format's second document; nil: there is none
	AuthHeader string
	Bridge     mapdata.Bridge
	// Validators make the requests conditional (D17.12): of the document, then of the status document. nil: unconditional. Feeds of v1 rows
	// never send any.
	Validators []mapdata.Validator
	Started    func()                                                       // as safehttp.Request's, of the first request
	Admit      func(ctx context.Context) (leave func(), err error)          // as safehttp.Request's
	Turn       func(ctx context.Context, b *Body) (leave func(), err error) // waits for the turn to read a page before the document is complete
}

// Documents are the fetched pages of a feed's document, and its status document.
type Documents struct {
	Bridge mapdata.Bridge
	Size   int64 // of all bodies
	// Same means that the server has nothing new since the validators: there are no bodies.
	Same       bool
	Validators []mapdata.Validator // for the next request; nil: the answers allow no conditional requests

	format bridge.Format
	pages  []*Body
	status *Body
}

// Fetch fetches the documents of a feed. It fails as Fetcher does, with a *format.Error for pages that can't be followed, and with
// mapdata.ErrUnavailable when there is no room for them here.
func (s *Spool) Fetch(ctx context.Context, web Fetcher, t *Target) (*Documents, error) {
	d := &Documents{Bridge: t.Bridge}
	f := fetching{spool: s, web: web, target: t, into: d, wire: maxWire, size: bridge.MaxUnpacked, left: maxFetching}
	var err error
	if t.Bridge.Format == "" {
		err = f.plain(ctx)
	} else {
		err = f.bridged(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// fetching is a running Fetch, with the rest of its limits.
type fetching struct {
	spool  *Spool
	web    Fetcher
	target *Target
	into   *Documents

	wire, size int64
	left       time.Duration
	budget     *format.Budget // of the search for next pages in documents
}

// plain fetches an array of v1 rows.
func (f *fetching) plain(ctx context.Context) error {
	t := f.target
	body, _, err := f.spool.fetch(ctx, f.web, safehttp.Request{URL: t.URL, AuthHeader: t.AuthHeader, Started: t.Started, Admit: t.Admit})
	if err != nil {
		return err
	}
	f.into.pages, f.into.Size = []*Body{body}, body.Size
	return nil
}

// bridged fetches a document in another format with all its pages, then its status document. When one of the two documents has changed, it
// fetches the other one whole too.
func (f *fetching) bridged(ctx context.Context) error {
	t := f.target
	var known bool
	if f.into.format, known = bridge.Lookup(t.Bridge.Format); !known {
		return fmt.Errorf("%w: this program reads no format %s", mapdata.ErrUnavailable, t.Bridge.Format)
	}
	conditional := t.Validators != nil && (t.Status == nil) == (len(t.Validators) == 1)
	first, err := f.page(ctx, t.URL, conditional, 0)
	if err != nil {
		return err
	}
	if t.Status == nil {
		if first.body == nil {
			f.into.Same, f.into.Validators = true, t.Validators
			return nil
		}
		return f.follow(ctx, first)
	}
	status, err := f.page(ctx, t.Status, first.body == nil, 1)
	if err != nil {
		return err
	}
	if f.into.status = status.body; status.body == nil {
		f.into.Same, f.into.Validators = true, t.Validators
		return nil
	}
	if first.body == nil {
		if first, err = f.page(ctx, t.URL, false, 0); err != nil {
			return err
		}
	}
	f.into.Validators = validators(first, status)
	return f.follow(ctx, first)
}

// page is one answer; body is nil where the server has nothing new.
type page struct {
	body      *Body
	next      string // URL of the next page; empty: none
	url       *safehttp.URL
	validator mapdata.Validator
}

// tooLong returns the failure of pages that together took too long.
func tooLong() *Failure {
	return &Failure{
		Outcome: mapdata.OutcomeTimeout, Reason: mapdata.ReasonPages, Connected: true,
		Advice: "All pages together took longer than 120 seconds. Ask for larger pages, or a smaller area.",
	}
}

// page fetches one document and adds its body to the others, unless it is that of status_url.
func (f *fetching) page(ctx context.Context, u *safehttp.URL, conditional bool, which int) (*page, error) {
	if f.left <= 0 {
		return nil, tooLong()
	}
	began := time.Now()
	t := f.target
	r := safehttp.Request{
		URL: u, AuthHeader: t.AuthHeader, Accept: string(f.into.format.Accept) + ", */*;q=0.1", Admit: t.Admit,
		Timeout: f.left, MaxWire: max(1, f.wire), MaxBody: max(1, f.size),
		Started: func() {
			if began = time.Now(); t.Started != nil {
				t.Started()
				t.Started = nil
			}
		},
	}
	if conditional {
		r.Conditions = conditions(t.Validators[which], u)
	}
	body, answer, err := f.spool.fetch(ctx, f.web, r)
	f.left -= time.Since(began)
	if failed := (*safehttp.Error)(nil); f.left <= 0 && errors.As(err, &failed) && failed.Outcome == mapdata.OutcomeTimeout {
		return nil, tooLong() // the rest of the time was less than one page may take
	}
	if err != nil {
		return nil, err
	}
	p := &page{url: answer.URL, validator: validatorOf(answer), next: safehttp.NextLink(answer.Header)}
	if p.url == nil {
		p.url = u
	}
	if answer.Status == http.StatusNotModified {
		return p, body.Close()
	}
	p.body = body
	f.wire -= answer.Sent()
	f.size -= body.Size
	f.into.Size += body.Size
	if which == 0 {
		f.into.pages = append(f.into.pages, body)
	}
	return p, nil
}

// follow fetches the pages after the first: those of the same origin, each once.
func (f *fetching) follow(ctx context.Context, p *page) error {
	if !f.into.format.Pages {
		if f.into.Validators == nil && f.target.Status == nil {
			f.into.Validators = validators(p)
		}
		return nil
	}
	seen := map[string]bool{f.target.URL.String(): true, p.url.String(): true}
	for {
		next, err := f.next(ctx, p)
		if err != nil {
			return err
		}
		if next == "" {
			if len(f.into.pages) == 1 && f.target.Status == nil {
				f.into.Validators = validators(p)
			}
			return nil
		}
		u, err := p.url.Resolve(next)
		if err != nil || u.Origin() != f.target.URL.Origin() || seen[u.String()] || len(f.into.pages) == maxPages {
			return &format.Error{Fault: format.BadPages}
		}
		seen[u.String()] = true
		if p, err = f.page(ctx, u, false, 0); err != nil {
			return err
		}
	}
}

// next returns the URL of the page after p, from the Link header or from the document itself.
func (f *fetching) next(ctx context.Context, p *page) (string, error) {
	if !f.into.format.NextInBody() {
		return p.next, nil
	}
	if f.target.Turn != nil {
		leave, err := f.target.Turn(ctx, p.body)
		if err != nil {
			return "", err
		}
		defer leave()
	}
	document := format.Document{Open: bridge.Unpacked(p.body.Open)}
	var skipped bridge.Skips
	if f.budget == nil {
		f.budget = format.NewBudget(ctx, nextWork)
	}
	o, err := options(&f.target.Bridge, time.Now(), f.budget)
	if err != nil {
		return "", err
	}
	summary, err := f.into.format.Convert(document, o, &skipped, func(format.Item) error { return nil })
	return summary.NextPage, err
}

// conditions returns the conditions of an earlier answer, if it came from this URL or one that it redirected to.
func conditions(v mapdata.Validator, u *safehttp.URL) *safehttp.Conditions {
	if v.URL != urlHash(u) {
		return nil
	}
	return &safehttp.Conditions{URL: u.String(), ETag: v.ETag, LastModified: v.LastModified}
}

func validatorOf(answer *safehttp.Response) mapdata.Validator {
	v := mapdata.Validator{ETag: answer.Header.Get("ETag"), LastModified: answer.Header.Get("Last-Modified")}
	if len(v.ETag) > mapdata.MaxValidator {
		v.ETag = ""
	}
	if len(v.LastModified) > mapdata.MaxValidator {
		v.LastModified = ""
	}
	if answer.URL != nil {
		v.URL = urlHash(answer.URL)
	}
	return v
}

// validators returns the validators of the answers, or nil if one of them has none.
func validators(pages ...*page) (all []mapdata.Validator) {
	for _, p := range pages {
		if p.validator.ETag == "" && p.validator.LastModified == "" {
			return nil
		}
		all = append(all, p.validator)
	}
	return all
}

// urlHash returns a hash in place of a URL, because its query may be a secret.
func urlHash(u *safehttp.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:])
}

// Large reports whether reading the documents takes a while, or memory, because a small gzip file may contain a large document.
func (d *Documents) Large() bool {
	if d.Size >= largeBody || d.status != nil && d.status.packed() {
		return true
	}
	return d.Bridge.Format != "" && slices.ContainsFunc(d.pages, (*Body).packed)
}

// Hash returns a SHA-256 of everything that determines the rows: of v1 rows the body's own.
func (d *Documents) Hash() []byte {
	if d.Bridge.Format == "" {
		return d.pages[0].Hash
	}
	all := sha256.New()
	write := func(text []byte) { _, _ = fmt.Fprintf(all, "%d:%s;", len(text), text) } // never fails
	for _, setting := range []string{d.Bridge.Format, d.Bridge.Mapping, d.Bridge.TimeZone, d.Bridge.ChargerNetwork} {
		write([]byte(setting))
	}
	for _, p := range d.pages {
		write(p.Hash)
	}
	if d.status != nil {
		write([]byte("status"))
		write(d.status.Hash)
	}
	return all.Sum(nil)
}

// Open returns the body of v1 rows from its beginning.
func (d *Documents) Open() (io.ReadCloser, error) { return d.pages[0].Open() }

// Close releases the room of all bodies.
func (d *Documents) Close() error {
	var err error
	for _, p := range d.pages {
		err = errors.Join(err, p.Close())
	}
	if d.status != nil {
		err = errors.Join(err, d.status.Close())
	}
	return err
}
