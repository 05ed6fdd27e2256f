package mail

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/mail"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"wayside/internal/mapdata"
	"wayside/internal/signal"
)

// post is a real SMTP server's far side.
type post struct {
	mu     sync.Mutex
	answer func(n int) error // to the n-th RCPT, from 1; nil: all is well
	rcpts  int
	taken  []taken
	login  string // user and password of the last one who signed in
	auth   bool   // signing in is asked for
	hang   chan struct{}
	refuse bool // nobody may sign in

	connections int
	most        int  // letters that are taken over one connection; 0: all
	rude        bool // what comes after that many ends the connection without an answer
}

type taken struct{ from, to, data string }

type postSession struct {
	*post
	conn     *smtp.Conn
	from, to string
	in       bool
	letters  int
}

func (p *post) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connections++
	return &postSession{post: p, conn: conn}, nil
}

func (s *postSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *postSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuse {
			return smtp.ErrAuthFailed
		}
		s.login, s.in = user+" "+password, true
		return nil
	}), nil
}

func (s *postSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.auth && !s.in {
		return smtp.ErrAuthRequired
	}
	if s.most > 0 && s.letters == s.most {
		if s.rude {
			return s.conn.Conn().Close()
		}
		return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 4, 5}, Message: "enough for once"}
	}
	s.from = from
	return nil
}

func (s *postSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rcpts++
	if s.answer != nil {
		if err := s.answer(s.rcpts); err != nil {
			return err
		}
	}
	s.to = to
	return nil
}

func (s *postSession) Data(r io.Reader) error {
	if s.hang != nil {
		<-s.hang
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, taken{s.from, s.to, string(data)})
	s.letters++
	return nil
}

func (s *postSession) Reset()        {}
func (s *postSession) Logout() error { return nil }

func (p *post) letters() []taken {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]taken(nil), p.taken...)
}

// serve starts the server and gives its address. With implicit, TLS comes first; with cert alone, by STARTTLS.
func (p *post) serve(t *testing.T, cert *tls.Config, implicit bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	s := smtp.NewServer(p)
	s.Domain, s.TLSConfig, s.AllowInsecureAuth = "post.example", cert, cert == nil
	s.ErrorLog = log.New(io.Discard, "", 0)
	if implicit {
		l = tls.NewListener(l, cert)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	return addr
}

// certificates gives what a server for 127.0.0.1 shows, and what a client trusts it by.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func (d *desk) noSecretsInLog(t *testing.T) {
	t.Helper()
	for _, secret := range []string{"00420815", "T0kenOfTheLink", "ada@", "example.org", "letmein"} {
		if strings.Contains(d.log.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, d.log)
		}
	}
}

func TestSMTP(t *testing.T) {
	server, client := certificates(t)
	tests := []struct {
		name     string
		scheme   string // and user
		query    string
		cert     *tls.Config
		implicit bool
		trust    *tls.Config
		auth     bool
		want     bool // the letter arrives
	}{
		{name: "plain, on this machine", scheme: "smtp://", want: true},
		{name: "STARTTLS where it is offered", scheme: "smtp://", cert: server, trust: client, want: true},
		{name: "STARTTLS and signing in", scheme: "smtp://post%40box:letmein@", cert: server, trust: client, auth: true, want: true},
		{name: "STARTTLS required but not offered", scheme: "smtp://post%40box:letmein@", query: "?starttls=required", auth: true},
		{name: "certificate of nobody we trust", scheme: "smtp://post%40box:letmein@", query: "?starttls=required", cert: server, auth: true},
		{name: "TLS from the first byte", scheme: "smtps://post%40box:letmein@", cert: server, implicit: true, trust: client, auth: true, want: true},
		{name: "TLS from the first byte, not trusted", scheme: "smtps://post%40box:letmein@", cert: server, implicit: true, auth: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &post{auth: tt.auth}
			addr := p.serve(t, tt.cert, tt.implicit)
			d := newDesk(t, Config{SMTPURL: tt.scheme + addr + tt.query, TLS: tt.trust}, signInLetter())
			defer d.run(t)()
			told := <-d.outbox.told
			if sent := told.Tries < 0; sent != tt.want || len(p.letters()) == 1 != tt.want {
				t.Fatalf("sent %v, %d letters arrived, want %v\n%s", sent, len(p.letters()), tt.want, d.log)
			}
			d.noSecretsInLog(t)
			if tt.auth != (p.login == "post@box letmein") && tt.want {
				t.Errorf("signed in as %q", p.login)
			}
			if !tt.want {
				if p.login != "" {
					t.Error("the password was shown to a server that was not to be trusted")
				}
				return
			}
			got := p.letters()[0]
			if got.from != "wayside@example.org" || got.to != "ada@example.org" {
				t.Errorf("envelope from %s to %s", got.from, got.to)
			}
			msg, text := parse(t, got.data)
			for _, want := range []string{"00420815", "https://wayside.example.org/auth/verify?token=T0kenOfTheLink\n"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in the text:\n%s", want, text)
				}
			}
			if from, err := mail.ParseAddress(msg.Header.Get("From")); err != nil || from.Name != "Wayside" {
				t.Errorf("From: %s (%v)", msg.Header.Get("From"), err)
			}
		})
	}
}

func TestTemporaryFailureThenSuccess(t *testing.T) {
	p := &post{answer: func(n int) error {
		if n <= 2 {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come back later, ada@example.org"}
		}
		return nil
	}}
	attempts := make(chan bool, 3)
	d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false), Observe: func(sent bool) { attempts <- sent }}, signInLetter())
	defer d.run(t)()
	for tries, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
		if l := <-d.outbox.told; l.Tries != tries+1 || !l.Due.Equal(d.now().Add(wait)) {
			t.Fatalf("after failure %d: tries %d, due in %v, want %v", tries+1, l.Tries, l.Due.Sub(d.now()), wait)
		}
		d.hand.add(wait)
		d.queued.Notify()
	}
	if l := <-d.outbox.told; l.Tries != -1 || d.outbox.waiting() != 0 {
		t.Error("not sent the third time")
	}
	if n := len(p.letters()); n != 1 {
		t.Errorf("%d letters arrived, want 1", n)
	}
	if first, second, third := <-attempts, <-attempts, <-attempts; first || second || !third {
		t.Errorf("attempts were observed as %v, %v, %v", first, second, third)
	}
	if !strings.Contains(d.log.String(), "451") {
		t.Errorf("the log does not tell the server's answer:\n%s", d.log)
	}
	d.noSecretsInLog(t)
}

func TestRefusedForGood(t *testing.T) {
	p := &post{answer: func(int) error {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no mailbox ada@example.org here"}
	}}
	d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, signInLetter(), signInLetter())
	stop := d.run(t)
	<-d.outbox.told
	<-d.outbox.told
	stop()
	if p.rcpts != 2 || d.outbox.waiting() != 0 || strings.Count(d.log.String(), "letter given up: refused") != 2 {
		t.Errorf("%d tries of two letters, %d waiting\n%s", p.rcpts, d.outbox.waiting(), d.log)
	}
	d.noSecretsInLog(t)
}

// No server at all: the letter waits, and the log says why.
func TestServerOutOfReach(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, Config{SMTPURL: "smtp://post:letmein@" + addr}, signInLetter())
	defer d.run(t)()
	if got := <-d.outbox.told; got.Tries != 1 || d.outbox.waiting() != 1 {
		t.Errorf("tries %d, %d waiting", got.Tries, d.outbox.waiting())
	}
	if !strings.Contains(d.log.String(), "connection refused") {
		t.Errorf("log: %s", d.log)
	}
	d.noSecretsInLog(t)
}

// A server that hangs holds up the end of the service for the grace time only, and the letters go back: the one in hand
// with a try counted, the others as they were.
func TestRunEndsWhileTheServerHangs(t *testing.T) {
	p := &post{hang: make(chan struct{})}
	d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, signInLetter(), signInLetter())
	defer close(p.hang)
	d.grace = time.Millisecond
	waiting := make(chan struct{})
	p.answer = func(int) error { close(waiting); return nil }
	stop := d.run(t)
	<-waiting
	stop()
	first, second := <-d.outbox.told, <-d.outbox.told
	if first.Tries != 1 || second.Tries != 0 || second.Due.After(d.now()) {
		t.Errorf("put back: %+v and %+v", first, second)
	}
}

// The server takes the letter and is gone before the farewell: it must not get the letter again.
func TestServerThatHangsUpAfterTakingTheLetter(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error)
	go func() { done <- takeOneLetter(l) }()
	d := newDesk(t, Config{SMTPURL: "smtp://" + l.Addr().String()}, signInLetter())
	stop := d.run(t)
	if told := <-d.outbox.told; told.Tries != -1 {
		t.Errorf("put back after it was taken\n%s", d.log)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// takeOneLetter speaks just enough SMTP to take a letter, and hangs up.
func takeOneLetter(l net.Listener) (err error) {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	text := textproto.NewConn(conn)
	defer func() { err = errors.Join(err, text.Close()) }()
	if err := text.PrintfLine("220 post.example"); err != nil {
		return err
	}
	for {
		line, err := text.ReadLine()
		if err != nil {
			return err
		}
		if line != "DATA" {
			if err := text.PrintfLine("250 ok"); err != nil {
				return err
			}
			continue
		}
		if err := text.PrintfLine("354 go on"); err != nil {
			return err
		}
		if _, err := text.ReadDotLines(); err != nil {
			return err
		}
		return text.PrintfLine("250 taken")
	}
}

func TestAllLettersLeaveOnce(t *testing.T) {
	p := &post{}
	const letters = 50
	all := make([]mapdata.Letter, letters)
	for i := range all {
		all[i] = signInLetter()
	}
	d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, all...)
	other := *d
	second := *d.Sender
	second.queued, second.sent = signal.NewMailQueued(), make(map[int64]bool)
	other.Sender = &second
	stop, stopOther := d.run(t), other.run(t)
	for range letters {
		if l := <-d.outbox.told; l.Tries != -1 {
			t.Errorf("letter %d failed\n%s", l.ID, d.log)
		}
	}
	stop()
	stopOther()
	ids := map[string]bool{}
	for _, l := range p.letters() {
		msg, _ := parse(t, l.data)
		ids[msg.Header.Get("Message-Id")] = true
	}
	if len(ids) != letters || len(p.letters()) != letters {
		t.Errorf("%d letters arrived with %d ids, want %d", len(p.letters()), len(ids), letters)
	}
}
