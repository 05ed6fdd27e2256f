package mail_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	netmail "net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"wayside/internal/mail"
	"wayside/internal/mapdata"
	"wayside/internal/store/sqlite"
)

// mailbox is an SMTP server that remembers what it acknowledged. Each letter is announced before the server answers, and
// the answer waits for the word.
type mailbox struct {
	mu      sync.Mutex
	ids     []string // Message-IDs
	arrived chan struct{}
	answer  chan bool // false: the letter is not taken
}

type mailboxSession struct{ *mailbox }

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return mailboxSession{b}, nil }
func (b *mailbox) Reset()                                      {}
func (b *mailbox) Logout() error                               { return nil }
func (mailboxSession) Mail(string, *smtp.MailOptions) error    { return nil }
func (mailboxSession) Rcpt(string, *smtp.RcptOptions) error    { return nil }

func (b *mailbox) take(id string) { b.mu.Lock(); defer b.mu.Unlock(); b.ids = append(b.ids, id) }

func (s mailboxSession) Data(r io.Reader) error {
	msg, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, msg.Body); err != nil {
		return err
	}
	s.arrived <- struct{}{}
	if !<-s.answer {
		return errors.New("the sender is dead")
	}
	s.take(msg.Header.Get("Message-Id"))
	return nil
}

// next waits for a letter, and answers its sender. before is called in between; nil: nothing is.
func (b *mailbox) next(t *testing.T, before func(), taken bool) {
	t.Helper()
	select {
	case <-b.arrived:
	case <-time.After(20 * time.Second):
		t.Fatal("no letter comes")
	}
	if before != nil {
		before()
	}
	b.answer <- taken
}

func (b *mailbox) count() (letters, ids int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	distinct := make(map[string]bool)
	for _, id := range b.ids {
		distinct[id] = true
	}
	return len(b.ids), len(distinct)
}

func newMailbox(t *testing.T) (_ *mailbox, address string) {
	t.Helper()
	b := &mailbox{arrived: make(chan struct{}), answer: make(chan bool)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := smtp.NewServer(b)
	s.Domain, s.ErrorLog = "post.example", log.New(io.Discard, "", 0)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return b, l.Addr().String()
}

// deaf is an outbox that is never told that a letter was sent: the process dies before.
type deaf struct{ mail.Outbox }

func (deaf) LetterSent(ctx context.Context, _ int64) error {
	fmt.Println("sent")
	<-ctx.Done()
	return ctx.Err()
}

// TestSenderProcess is not a test but the other process of the tests below: it empties an outbox until it is killed.
func TestSenderProcess(t *testing.T) {
	if flag.NArg() != 4 {
		t.Skip("runs as another process")
	}
	path, address, later, mode := flag.Arg(0), flag.Arg(1), flag.Arg(2), flag.Arg(3)
	ahead, err := time.ParseDuration(later)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var outbox mail.Outbox = db
	if mode == "deaf" {
		outbox = deaf{db}
	}
	s, err := mail.New(mail.Config{
		Outbox: outbox, Now: func() time.Time { return time.Now().Add(ahead) }, Log: slog.New(slog.DiscardHandler),
		BaseURL: "https://wayside.example.org", From: "wayside@example.org", SMTPURL: "smtp://" + address,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sender starts that process, whose clock is ahead. kill kills it as kill -9 does, and waits.
func sender(t *testing.T, path, address string, ahead time.Duration, mode string) (out *bufio.Scanner, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run", "^TestSenderProcess$", path, address, ahead.String(), mode)
	pipe, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() {
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
			if err := child.Wait(); err == nil {
				t.Error("the other process ended by itself")
			}
		})
	}
	t.Cleanup(kill)
	return bufio.NewScanner(pipe), kill
}

// asked stores so many sign-ins with their letters, as the service does when it answers 202.
func asked(t *testing.T, path string, n int) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	now := time.Now().UTC().Truncate(time.Millisecond)
	for i := range n {
		in := &mapdata.SignIn{
			Email: fmt.Sprintf("driver%d@example.org", i), TokenHash: fmt.Appendf(nil, "%032d", i), CodeHash: make([]byte, 32),
			CreatedAt: now, ExpiresAt: now.Add(10 * time.Minute),
		}
		letter := &mapdata.Letter{Kind: mapdata.LetterSignIn, Data: map[string]string{"code": "00420815", "token": "T"}, At: now}
		if _, err := db.CreateSignIn(t.Context(), in, letter, now, 1); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func left(t *testing.T, db *sqlite.DB) int {
	t.Helper()
	far := time.Now().Add(time.Hour)
	due, err := db.DueLetters(t.Context(), far, far, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(due)
}

// A sender that is killed while the server reads a letter loses none and doubles none, again and again.
func TestKilledWhileALetterIsOnItsWay(t *testing.T) {
	const letters = 12
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := asked(t, path, letters)
	b, address := newMailbox(t)
	for round := range 3 {
		_, kill := sender(t, path, address, time.Duration(round)*time.Minute, "") // the dead one's lease is over
		for range 2 {
			b.next(t, nil, true)
		}
		b.next(t, kill, false) // the one before is marked by now: the sender handles one after the other
	}
	before, _ := b.count()
	_, kill := sender(t, path, address, 3*time.Minute, "")
	for range letters - before {
		b.next(t, nil, true)
	}
	waitFor(t, func() bool { return left(t, db) == 0 })
	kill()
	if all, ids := b.count(); before != 6 || all != letters || ids != letters {
		t.Errorf("%d letters with %d ids were taken, %d before the last start; want %d, each once", all, ids, before, letters)
	}
}

// The one gap: killed after the server's word and before the outbox heard. The copy has the first one's Message-ID.
func TestKilledBeforeTheOutboxHeard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := asked(t, path, 1)
	b, address := newMailbox(t)
	out, kill := sender(t, path, address, 0, "deaf")
	b.next(t, nil, true)
	for out.Scan() && !strings.HasPrefix(out.Text(), "sent") {
		t.Log(out.Text())
	}
	kill()
	_, kill = sender(t, path, address, time.Minute, "")
	b.next(t, nil, true)
	waitFor(t, func() bool { return left(t, db) == 0 })
	kill()
	if all, ids := b.count(); all != 2 || ids != 1 {
		t.Errorf("%d copies with %d ids, want two with one", all, ids)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(end) {
			t.Fatal("waited for too long")
		}
		<-time.After(10 * time.Millisecond)
	}
}
