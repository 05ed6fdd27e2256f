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

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

const (
	pollInterval = 10 * time.Second // finds e-mails of other nodes and retries
	batchSize    = 8                // e-mails leased at a time
	sendTimeout  = 20 * time.Second // for one e-mail
	stopGrace    = 5 * time.Second
	leaseTime    = time.Minute // after a crash, an e-mail is retried when its lease expires

	giveUpAfter       = 3 * 24 * time.Hour
	giveUpSignInAfter = 10 * time.Minute // its link has expired by then (D11.1)
)

// Config holds the parameters of a Sender.
type Config struct {
	Outbox  Outbox
	Now     func() time.Time
	Log     *slog.Logger
	BaseURL string            // public address, without a trailing slash
	From    string            // sender: an address, or "Name <address>"
	SMTPURL string            // see docs/operating.md; empty: e-mails are written to Folder
	Folder  string            // data_dir/outbox
	TLS     *tls.Config       // for the SMTP server; nil: the system's roots
	Observe func(sent bool)   // called after each attempt to send; may be nil
	Queued  signal.MailQueued // wakes the sender before it polls the outbox
}

// Sender empties the outbox.
type Sender struct {
	outbox  Outbox
	clock   func() time.Time
	log     *slog.Logger
	observe func(sent bool)
	from    *mail.Address
	host    string // right-hand side of Message-IDs
	texts   *texts
	server  *server        // nil: files
	sent    map[int64]bool // sent e-mails that are not removed from the outbox yet; used only by Run
	folder  folder
	cleaned time.Time // when files that are too old were last removed; used only by Run
	queued  signal.MailQueued
	grace   time.Duration // for the e-mail being sent when Run is cancelled
}

// New creates a Sender, which does nothing until Run. Its errors name the invalid configuration key (D14).
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

// Run sends e-mails that are due, when notified and every ten seconds, and removes files that are a day old, until ctx
// ends. It then finishes the e-mail being sent, within five seconds, and puts the other leased ones back.
func (s *Sender) Run(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		s.empty(ctx)
		s.cleanFolder()
		select {
		case <-ctx.Done():
			return nil
		case <-s.queued.C():
		case <-ticker.C:
		}
	}
}

// cleanFolder removes files of e-mails once they are a day old, including those from before a server was configured.
func (s *Sender) cleanFolder() {
	now := s.now()
	if now.Sub(s.cleaned) < cleanEvery {
		return
	}
	s.cleaned = now
	if err := s.folder.clean(now); err != nil {
		s.log.Warn("old e-mails cannot be removed from the outbox folder; it is tried again", "error", err)
	}
}

// empty sends until nothing is due, over one connection.
func (s *Sender) empty(ctx context.Context) {
	out := &smtpClient{server: s.server}
	defer out.close(ctx)
	s.markSent(ctx)
	for ctx.Err() == nil {
		now := s.now()
		until := now.Add(leaseTime)
		due, err := s.outbox.DueEmails(ctx, now, until, batchSize)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("outbox cannot be read", "error", err)
			}
			return
		}
		for i := range due {
			s.handle(ctx, out, &due[i], until)
		}
		if len(due) < batchSize {
			return
		}
	}
}

// handle sends one e-mail and updates the outbox, even if ctx ends in the meantime.
func (s *Sender) handle(ctx context.Context, out *smtpClient, l *mapdata.Email, until time.Time) {
	outboxCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime)
	defer cancel()
	now := s.now()
	var err error
	switch age := now.Sub(l.At); {
	case s.sent[l.ID]: // by this process, but the outbox could not be updated
		err = s.confirmSent(outboxCtx, l.ID)
	case !now.Add(sendTimeout).Before(until):
		return // the lease might expire while sending; then another node would send it too
	case ctx.Err() != nil:
		err = s.outbox.EmailFailed(outboxCtx, l.ID, l.Tries, now) // puts it back without counting a try
	case age >= giveUpAfter || l.Kind == mapdata.EmailSignIn && age >= giveUpSignInAfter,
		changesAddress(l.Kind) && age >= mapdata.EmailChangeTTL: // its link has expired
		s.log.Error("e-mail given up: too old", "kind", l.Kind, "tries", l.Tries)
		err = s.outbox.EmailSent(outboxCtx, l.ID)
	default:
		err = s.try(ctx, outboxCtx, out, l)
	}
	if err != nil {
		s.log.Error("outbox cannot be written", "kind", l.Kind, "error", err)
	}
}

// try sends one e-mail. It returns only errors of the outbox.
func (s *Sender) try(ctx, outboxCtx context.Context, out *smtpClient, l *mapdata.Email) error {
	failed := s.deliver(ctx, out, l)
	if s.observe != nil {
		s.observe(failed == nil)
	}
	switch tries := l.Tries + 1; {
	case failed == nil:
		return s.confirmSent(outboxCtx, l.ID)
	case permanent(failed):
		s.log.Error("e-mail given up: refused", "kind", l.Kind, "tries", tries, "reason", describe(failed))
		return s.outbox.EmailSent(outboxCtx, l.ID)
	default:
		wait := Backoff(tries)
		s.log.Warn("e-mail not sent", "kind", l.Kind, "tries", tries, "again_in", wait, "reason", describe(failed))
		return s.outbox.EmailFailed(outboxCtx, l.ID, tries, s.now().Add(wait))
	}
}

// confirmSent removes a sent e-mail from the outbox. Until that succeeds, its id is kept in sent, so that this process does
// not send it again.
func (s *Sender) confirmSent(ctx context.Context, id int64) error {
	s.sent[id] = true
	err := s.outbox.EmailSent(ctx, id)
	if err == nil {
		delete(s.sent, id)
	}
	return err
}

// markSent retries removing the sent e-mails whose removal failed.
func (s *Sender) markSent(ctx context.Context) {
	for id := range s.sent {
		if err := s.confirmSent(ctx, id); err != nil && ctx.Err() == nil {
			s.log.Error("outbox cannot be written", "error", err)
			return // would fail for the others too
		}
	}
}

// Backoff returns the wait after the given number of failures: a minute, doubled each time, at most an hour.
func Backoff(tries int) time.Duration {
	if tries > 6 {
		return time.Hour
	}
	return time.Minute << max(0, tries-1)
}

// deliver renders an e-mail and sends it, or writes it to the folder.
func (s *Sender) deliver(ctx context.Context, out *smtpClient, l *mapdata.Email) error {
	now := s.now()
	msg, err := s.compose(l, now)
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
		s.log.Info("e-mail sent", "kind", l.Kind)
		return nil
	}
	name, err := s.folder.write(sendCtx, l, msg, now)
	if err != nil {
		return err
	}
	s.log.Info("e-mail written to the outbox folder", "kind", l.Kind, "file", name)
	return nil
}
