package mail

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/proof/testenv"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// outbox implements Outbox in memory.
type outbox struct {
	mu      sync.Mutex
	emails  []mapdata.Email
	updates chan mapdata.Email // e-mails that were sent (Tries -1) or put back
	fail    error              // returned by EmailSent
}

func newOutbox(emails ...mapdata.Email) *outbox {
	for i := range emails {
		emails[i].ID = int64(i + 1)
		if emails[i].Address == "" {
			emails[i].Address = "ada@example.org"
		}
		if emails[i].At.IsZero() {
			emails[i].At = start
		}
	}
	return &outbox{emails: emails, updates: make(chan mapdata.Email, 1000)}
}

func (o *outbox) DueEmails(_ context.Context, now, until time.Time, limit int) ([]mapdata.Email, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []mapdata.Email
	for i := range o.emails {
		if !o.emails[i].Due.After(now) && len(due) < limit {
			due = append(due, o.emails[i])
			o.emails[i].Due = until
		}
	}
	return due, nil
}

func (o *outbox) EmailSent(_ context.Context, id int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return o.fail
	}
	for i, l := range o.emails {
		if l.ID == id {
			o.emails = append(o.emails[:i], o.emails[i+1:]...)
			l.Tries = -1
			o.updates <- l
			break
		}
	}
	return nil
}

func (o *outbox) EmailFailed(_ context.Context, id int64, tries int, due time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.emails {
		if l := &o.emails[i]; l.ID == id {
			l.Tries, l.Due = tries, due
			o.updates <- *l
		}
	}
	return nil
}

func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.emails)
}

func signInEmail() mapdata.Email {
	return mapdata.Email{Kind: mapdata.EmailSignIn, Data: map[string]string{"code": "00420815", "token": "T0kenOfTheLink"}}
}

// clock is a clock that the test advances.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// testSender is a Sender with fake dependencies.
type testSender struct {
	*Sender
	fakeClock *clock
	outbox    *outbox
	log       *testenv.Output
	folder    string
}

func newTestSender(t *testing.T, c Config, emails ...mapdata.Email) *testSender {
	t.Helper()
	d := &testSender{fakeClock: &clock{at: start}, outbox: newOutbox(emails...), log: &testenv.Output{}, folder: t.TempDir() + "/outbox"}
	c.Queued = signal.NewMailQueued()
	c.Outbox, c.Log, c.BaseURL, c.Folder = d.outbox, slog.New(slog.NewTextHandler(d.log, nil)), "https://wayside.example.org", d.folder
	if c.From == "" {
		c.From = "Wayside <wayside@example.org>"
	}
	if c.Now == nil {
		c.Now = d.fakeClock.now
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	d.Sender = s
	return d
}

// run starts the Sender; stop cancels it and waits.
func (d *testSender) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	}
}
