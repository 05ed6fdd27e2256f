package mail

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// outbox implements Outbox in memory.
type outbox struct {
	mu      sync.Mutex
	letters []mapdata.Letter
	updates chan mapdata.Letter // e-mails that were sent (Tries -1) or put back
	fail    error               // returned by LetterSent
}

func newOutbox(letters ...mapdata.Letter) *outbox {
	for i := range letters {
		letters[i].ID = int64(i + 1)
		if letters[i].Address == "" {
			letters[i].Address = "ada@example.org"
		}
		if letters[i].At.IsZero() {
			letters[i].At = start
		}
	}
	return &outbox{letters: letters, updates: make(chan mapdata.Letter, 1000)}
}

func (o *outbox) DueLetters(_ context.Context, now, until time.Time, limit int) ([]mapdata.Letter, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []mapdata.Letter
	for i := range o.letters {
		if !o.letters[i].Due.After(now) && len(due) < limit {
			due = append(due, o.letters[i])
			o.letters[i].Due = until
		}
	}
	return due, nil
}

func (o *outbox) LetterSent(_ context.Context, id int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fail != nil {
		return o.fail
	}
	for i, l := range o.letters {
		if l.ID == id {
			o.letters = append(o.letters[:i], o.letters[i+1:]...)
			l.Tries = -1
			o.updates <- l
			break
		}
	}
	return nil
}

func (o *outbox) LetterFailed(_ context.Context, id int64, tries int, due time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.letters {
		if l := &o.letters[i]; l.ID == id {
			l.Tries, l.Due = tries, due
			o.updates <- *l
		}
	}
	return nil
}

func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.letters)
}

func signInLetter() mapdata.Letter {
	return mapdata.Letter{Kind: mapdata.LetterSignIn, Data: map[string]string{"code": "00420815", "token": "T0kenOfTheLink"}}
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

// logBuffer is a log that a test may read while it is written to.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *logBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *logBuffer) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// testSender is a Sender with fake dependencies.
type testSender struct {
	*Sender
	fakeClock *clock
	outbox    *outbox
	log       *logBuffer
	folder    string
}

func newTestSender(t *testing.T, c Config, letters ...mapdata.Letter) *testSender {
	t.Helper()
	d := &testSender{fakeClock: &clock{at: start}, outbox: newOutbox(letters...), log: &logBuffer{}, folder: t.TempDir() + "/outbox"}
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
