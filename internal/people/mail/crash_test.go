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

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/mail"
	"wayside/internal/store/sqlite"
)

// recordingServer is an SMTP server that records the e-mails that it accepted. It announces each e-mail on arrived, and replies when
// the test sends on answer.
type recordingServer struct {
	mu      sync.Mutex
	ids     []string // Message-IDs
	arrived chan struct{}
	answer  chan bool // false: rejects the e-mail
}

type recordingSession struct{ *recordingServer }

func (b *recordingServer) NewSession(*smtp.Conn) (smtp.Session, error) {
	return recordingSession{b}, nil
}
func (b *recordingServer) Reset()                             {}
func (b *recordingServer) Logout() error                      { return nil }
func (recordingSession) Mail(string, *smtp.MailOptions) error { return nil }
func (recordingSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (b *recordingServer) take(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids = append(b.ids, id)
}

func (s recordingSession) Data(r io.Reader) error {
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

// next waits for an e-mail and replies. before, if not nil, is called in between.
func (b *recordingServer) next(t *testing.T, before func(), taken bool) {
	t.Helper()
	select {
	case <-b.arrived:
	case <-time.After(time.Minute):
		t.Fatal("no e-mail comes")
	}
	if before != nil {
		before()
	}
	b.answer <- taken
}

func (b *recordingServer) count() (emails, ids int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	distinct := make(map[string]bool)
	for _, id := range b.ids {
		distinct[id] = true
	}
	return len(b.ids), len(distinct)
}

func newRecordingServer(t *testing.T) (_ *recordingServer, address string) {
	t.Helper()
	b := &recordingServer{arrived: make(chan struct{}), answer: make(chan bool)}
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

// blockedOutbox blocks when an e-mail was sent, so that the process dies before the outbox is updated.
type blockedOutbox struct{ mail.Outbox }

func (blockedOutbox) EmailSent(ctx context.Context, _ int64) error {
	fmt.Println("sent")
	<-ctx.Done()
	return ctx.Err()
}

// TestSenderProcess is not a test but the child process of the tests below: it sends from an outbox until it is killed.
func TestSenderProcess(t *testing.T) {
	if flag.NArg() != 4 {
		t.Skip("runs as a child process")
	}
	path, address, clockOffset, mode := flag.Arg(0), flag.Arg(1), flag.Arg(2), flag.Arg(3)
	offset, err := time.ParseDuration(clockOffset)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var outbox mail.Outbox = db
	if mode == "blocked" {
		outbox = blockedOutbox{db}
	}
	s, err := mail.New(mail.Config{
		Outbox: outbox, Now: func() time.Time { return time.Now().Add(offset) }, Log: slog.New(slog.DiscardHandler),
		BaseURL: "https://wayside.example.org", From: "wayside@example.org", SMTPURL: "smtp://" + address,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// startSender starts that process with a clock offset. kill sends SIGKILL and waits.
func startSender(t *testing.T, path, address string, offset time.Duration, mode string) (out *bufio.Scanner, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run", "^TestSenderProcess$", path, address, offset.String(), mode)
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
				t.Error("the child process exited before it was killed")
			}
		})
	}
	t.Cleanup(kill)
	return bufio.NewScanner(pipe), kill
}

// queueSignIns stores n sign-ins with their e-mails, as the service does when it answers 202.
func queueSignIns(t *testing.T, path string, n int) *sqlite.DB {
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
		email := &mapdata.Email{Kind: mapdata.EmailSignIn, Data: map[string]string{"code": "00420815", "token": "T"}, At: now}
		if _, err := db.CreateSignIn(t.Context(), in, email, now, 1); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func pendingEmails(t *testing.T, db *sqlite.DB) int {
	t.Helper()
	far := time.Now().Add(time.Hour)
	due, err := db.DueEmails(t.Context(), far, far, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(due)
}

// TestKilledDuringTransaction checks that a sender that is killed repeatedly while the server reads an e-mail neither
// loses nor duplicates one.
func TestKilledDuringTransaction(t *testing.T) {
	const emails = 12
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := queueSignIns(t, path, emails)
	b, address := newRecordingServer(t)
	for round := range 3 {
		_, kill := startSender(t, path, address, time.Duration(round)*time.Minute, "") // the lease of the killed process has expired
		for range 2 {
			b.next(t, nil, true)
		}
		b.next(t, kill, false) // the previous one is marked as sent by now: the sender is sequential
	}
	before, _ := b.count()
	_, kill := startSender(t, path, address, 3*time.Minute, "")
	for range emails - before {
		b.next(t, nil, true)
	}
	waitFor(t, func() bool { return pendingEmails(t, db) == 0 })
	kill()
	if all, ids := b.count(); before != 6 || all != emails || ids != emails {
		t.Errorf("%d e-mails with %d ids were taken, %d before the last start; want %d, each once", all, ids, before, emails)
	}
}

// TestKilledBeforeOutboxUpdate checks the only case of a duplicate: the sender is killed between the server's
// acceptance and the update of the outbox. Both copies have the same Message-ID.
func TestKilledBeforeOutboxUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayside.db")
	db := queueSignIns(t, path, 1)
	b, address := newRecordingServer(t)
	out, kill := startSender(t, path, address, 0, "blocked")
	b.next(t, nil, true)
	for out.Scan() && !strings.HasPrefix(out.Text(), "sent") {
		t.Log(out.Text())
	}
	kill()
	_, kill = startSender(t, path, address, time.Minute, "")
	b.next(t, nil, true)
	waitFor(t, func() bool { return pendingEmails(t, db) == 0 })
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
