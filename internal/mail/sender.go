package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

const (
	pollEvery   = 10 * time.Second // for letters that other nodes stored, and those that failed
	batch       = 8                // letters leased at a time
	sendTimeout = 20 * time.Second // for one letter, whatever the server does
	stopGrace   = 5 * time.Second
	leaseTime   = time.Minute // how long a letter waits whose sender was killed; what is not begun in time goes back

	giveUpAfter       = 3 * 24 * time.Hour
	giveUpSignInAfter = 10 * time.Minute // its link is dead by then (D11.1)
)

// Config is what a Sender needs.
type Config struct {
	Outbox  Outbox
	Now     func() time.Time
	Log     *slog.Logger
	BaseURL string            // public address, without a trailing slash
	From    string            // sender: an address, or "Name <address>"
	SMTPURL string            // see docs/operating.md; empty: letters become files in Folder
	Folder  string            // data_dir/outbox
	TLS     *tls.Config       // for the SMTP server; nil: the system's roots
	Observe func(sent bool)   // told of each attempt to send; nil: nobody looks
	Queued  signal.MailQueued // wakes the sender before it polls the outbox
}

// Sender empties the outbox.
type Sender struct {
	outbox  Outbox
	clock   func() time.Time
	log     *slog.Logger
	observe func(sent bool)
	from    *mail.Address
	host    string // what Message-IDs end in
	texts   *texts
	server  *server        // nil: files
	sent    map[int64]bool // letters of which the outbox could not be told yet; only Run touches it
	folder  folder
	queued  signal.MailQueued
	grace   time.Duration // for the letter in hand, once Run is to end
}

// New makes a Sender, which does nothing until Run. Its errors name the key of the configuration that is wrong (D14).
func New(c Config) (*Sender, error) {
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return nil, errors.New("mail.from must be an address such as wayside@example.org")
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Hostname() == "" {
		return nil, errors.New("base_url must be an address such as https://wayside.example.org")
	}
	texts, err := newTexts(strings.TrimSuffix(c.BaseURL, "/"))
	if err != nil {
		return nil, err
	}
	s := &Sender{
		outbox: c.Outbox, clock: c.Now, log: c.Log, observe: c.Observe, from: from, host: domain(base.Hostname()), texts: texts,
		sent: make(map[int64]bool), folder: folder{c.Folder}, queued: c.Queued, grace: stopGrace,
	}
	if c.SMTPURL != "" {
		if s.server, err = parseServer(c.SMTPURL, c.TLS); err != nil {
			return nil, fmt.Errorf("mail.%w", err)
		}
	}
	return s, nil
}

func (s *Sender) now() time.Time { return s.clock().UTC().Truncate(time.Millisecond) }

// Run sends what is due, when mail was queued and every ten seconds, until ctx ends. The letter in hand is finished first, within
// five seconds; the others go back.
func (s *Sender) Run(ctx context.Context) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		s.empty(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-s.queued.C():
		case <-ticker.C:
		}
	}
}

// empty sends until nothing is due, over one connection.
func (s *Sender) empty(ctx context.Context) {
	out := &carrier{server: s.server}
	defer out.close(ctx)
	s.markSent(ctx)
	for ctx.Err() == nil {
		now := s.now()
		until := now.Add(leaseTime)
		due, err := s.outbox.DueLetters(ctx, now, until, batch)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("outbox cannot be read", "error", err)
			}
			return
		}
		for i := range due {
			s.handle(ctx, out, &due[i], until)
		}
		if len(due) < batch {
			return
		}
	}
}

// handle sends one letter and tells the outbox how it went. The outbox is told even when ctx ends meanwhile.
func (s *Sender) handle(ctx context.Context, out *carrier, l *mapdata.Letter, until time.Time) {
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	now := s.now()
	var err error
	switch age := now.Sub(l.At); {
	case s.sent[l.ID]: // by us, and the outbox could not be told then
		err = s.taken(stop, l.ID)
	case !now.Add(sendTimeout).Before(until):
		return // the lease might end under way, and another node send it too: it goes back by itself
	case ctx.Err() != nil:
		err = s.outbox.LetterFailed(stop, l.ID, l.Tries, now) // untried: another node, or the next run, takes it
	case age >= giveUpAfter || l.Kind == mapdata.LetterSignIn && age >= giveUpSignInAfter:
		s.log.Error("letter given up: too old", "kind", l.Kind, "tries", l.Tries)
		err = s.outbox.LetterSent(stop, l.ID)
	default:
		err = s.try(ctx, stop, out, l)
	}
	if err != nil {
		s.log.Error("outbox cannot be written", "kind", l.Kind, "error", err)
	}
}

// try sends one letter. Its error is the outbox's.
func (s *Sender) try(ctx, stop context.Context, out *carrier, l *mapdata.Letter) error {
	failed := s.deliver(ctx, out, l)
	if s.observe != nil {
		s.observe(failed == nil)
	}
	switch tries := l.Tries + 1; {
	case failed == nil:
		return s.taken(stop, l.ID)
	case final(failed):
		s.log.Error("letter given up: refused", "kind", l.Kind, "tries", tries, "reason", describe(failed))
		return s.outbox.LetterSent(stop, l.ID)
	default:
		wait := Backoff(tries)
		s.log.Warn("letter not sent", "kind", l.Kind, "tries", tries, "again_in", wait, "reason", describe(failed))
		return s.outbox.LetterFailed(stop, l.ID, tries, s.now().Add(wait))
	}
}

// taken tells the outbox that a letter was sent. Until it has heard, the letter is remembered, so that it is not sent
// again while this process lives.
func (s *Sender) taken(ctx context.Context, id int64) error {
	s.sent[id] = true
	err := s.outbox.LetterSent(ctx, id)
	if err == nil {
		delete(s.sent, id)
	}
	return err
}

// markSent tells the outbox once more of what it did not hear.
func (s *Sender) markSent(ctx context.Context) {
	for id := range s.sent {
		if err := s.taken(ctx, id); err != nil && ctx.Err() == nil {
			s.log.Error("outbox cannot be written", "error", err)
			return // nor can it for the others
		}
	}
}

// Backoff is how long a letter waits after the given number of failures: a minute, doubled each time, at most an hour.
func Backoff(tries int) time.Duration {
	if tries > 6 {
		return time.Hour
	}
	return time.Minute << max(0, tries-1)
}

// deliver renders a letter and hands it over.
func (s *Sender) deliver(ctx context.Context, out *carrier, l *mapdata.Letter) error {
	now := s.now()
	subject, msg, err := s.compose(l, now)
	if err != nil {
		return err
	}
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	release := context.AfterFunc(ctx, func() {
		grace := time.AfterFunc(s.grace, cancel)
		context.AfterFunc(sendCtx, func() { grace.Stop() })
	})
	defer release()
	if s.server != nil {
		if err := out.send(sendCtx, msg); err != nil {
			return err
		}
		s.log.Info("letter sent", "kind", l.Kind)
		return nil
	}
	name, err := s.folder.write(sendCtx, l, msg, now)
	if err != nil {
		return err
	}
	s.log.Info("letter written to the outbox folder", "kind", l.Kind, "file", name, "subject", subject)
	return nil
}
