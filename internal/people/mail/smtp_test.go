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

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// fakeServer is the backend of an SMTP server.
type fakeServer struct {
	mu       sync.Mutex
	answer   func(n int) error // reply to the n-th RCPT, from 1; nil: accepts all
	rcpts    int
	received []received
	login    string // user and password of the last authentication
	auth     bool   // authentication is required
	hang     chan struct{}
	refuse   bool // rejects every authentication

	connections   int
	most          int  // e-mails accepted per connection; 0: unlimited
	closeSilently bool // closes the connection without a reply after that many
}

type received struct{ from, to, data string }

type fakeSession struct {
	*fakeServer
	conn     *smtp.Conn
	from, to string
	in       bool
	emails   int
}

func (p *fakeServer) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connections++
	return &fakeSession{fakeServer: p, conn: conn}, nil
}

func (s *fakeSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *fakeSession) Auth(string) (sasl.Server, error) {
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

func (s *fakeSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.auth && !s.in {
		return smtp.ErrAuthRequired
	}
	if s.most > 0 && s.emails == s.most {
		if s.closeSilently {
			return s.conn.Conn().Close()
		}
		return &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 4, 5}, Message: "enough for once"}
	}
	s.from = from
	return nil
}

func (s *fakeSession) Rcpt(to string, _ *smtp.RcptOptions) error {
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

func (s *fakeSession) Data(r io.Reader) error {
	if s.hang != nil {
		<-s.hang
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, received{s.from, s.to, string(data)})
	s.emails++
	return nil
}

func (s *fakeSession) Reset()        {}
func (s *fakeSession) Logout() error { return nil }

func (p *fakeServer) emails() []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]received(nil), p.received...)
}

// serve starts the server and returns its address, with implicit TLS, STARTTLS (cert alone) or without TLS.
func (p *fakeServer) serve(t *testing.T, cert *tls.Config, implicit bool) string {
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

// certificates returns the TLS configurations of a server for 127.0.0.1 and of a client that trusts it.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func (d *testSender) noSecretsInLog(t *testing.T) {
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
		want     bool // the e-mail arrives
	}{
		{name: "plain, on this machine", scheme: "smtp://", want: true},
		{name: "STARTTLS where it is offered", scheme: "smtp://", cert: server, trust: client, want: true},
		{name: "STARTTLS and signing in", scheme: "smtp://post%40box:letmein@", cert: server, trust: client, auth: true, want: true},
		{name: "STARTTLS required but not offered", scheme: "smtp://post%40box:letmein@", query: "?starttls=required", auth: true},
		{name: "untrusted certificate", scheme: "smtp://post%40box:letmein@", query: "?starttls=required", cert: server, auth: true},
		{name: "TLS from the first byte", scheme: "smtps://post%40box:letmein@", cert: server, implicit: true, trust: client, auth: true, want: true},
		{name: "TLS from the first byte, not trusted", scheme: "smtps://post%40box:letmein@", cert: server, implicit: true, auth: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &fakeServer{auth: tt.auth}
			addr := p.serve(t, tt.cert, tt.implicit)
			d := newTestSender(t, Config{SMTPURL: tt.scheme + addr + tt.query, TLS: tt.trust}, signInEmail())
			defer d.run(t)()
			updates := <-d.outbox.updates
			if sent := updates.Tries < 0; sent != tt.want || len(p.emails()) == 1 != tt.want {
				t.Fatalf("sent %v, %d e-mails arrived, want %v\n%s", sent, len(p.emails()), tt.want, d.log)
			}
			d.noSecretsInLog(t)
			if tt.auth != (p.login == "post@box letmein") && tt.want {
				t.Errorf("signed in as %q", p.login)
			}
			if !tt.want {
				if p.login != "" {
					t.Error("the password was sent to an untrusted server")
				}
				return
			}
			got := p.emails()[0]
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
	p := &fakeServer{answer: func(n int) error {
		if n <= 2 {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come back later, ada@example.org"}
		}
		return nil
	}}
	attempts := make(chan bool, 3)
	d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false), Observe: func(sent bool) { attempts <- sent }}, signInEmail())
	defer d.run(t)()
	for tries, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
		if l := <-d.outbox.updates; l.Tries != tries+1 || !l.Due.Equal(d.now().Add(wait)) {
			t.Fatalf("after failure %d: tries %d, due in %v, want %v", tries+1, l.Tries, l.Due.Sub(d.now()), wait)
		}
		d.fakeClock.add(wait)
		d.queued.Notify()
	}
	if l := <-d.outbox.updates; l.Tries != -1 || d.outbox.waiting() != 0 {
		t.Error("not sent the third time")
	}
	if n := len(p.emails()); n != 1 {
		t.Errorf("%d e-mails arrived, want 1", n)
	}
	if first, second, third := <-attempts, <-attempts, <-attempts; first || second || !third {
		t.Errorf("attempts were observed as %v, %v, %v", first, second, third)
	}
	if !strings.Contains(d.log.String(), "451") {
		t.Errorf("the log does not tell the server's answer:\n%s", d.log)
	}
	d.noSecretsInLog(t)
}

func TestPermanentRejection(t *testing.T) {
	p := &fakeServer{answer: func(int) error {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no mailbox ada@example.org here"}
	}}
	d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, signInEmail(), signInEmail())
	stop := d.run(t)
	<-d.outbox.updates
	<-d.outbox.updates
	stop()
	if p.rcpts != 2 || d.outbox.waiting() != 0 || strings.Count(d.log.String(), "e-mail given up: refused") != 2 {
		t.Errorf("%d tries of two e-mails, %d waiting\n%s", p.rcpts, d.outbox.waiting(), d.log)
	}
	d.noSecretsInLog(t)
}

// TestServerUnreachable checks that without a server the e-mail waits, and that the log contains the reason.
func TestServerUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d := newTestSender(t, Config{SMTPURL: "smtp://post:letmein@" + addr}, signInEmail())
	defer d.run(t)()
	if got := <-d.outbox.updates; got.Tries != 1 || d.outbox.waiting() != 1 {
		t.Errorf("tries %d, %d waiting", got.Tries, d.outbox.waiting())
	}
	if !strings.Contains(d.log.String(), "connection refused") {
		t.Errorf("log: %s", d.log)
	}
	d.noSecretsInLog(t)
}

// TestStopWithHangingServer checks that a hanging server delays the shutdown by the grace time only, and that the
// e-mails are put back: the one being sent with a try counted, the others unchanged.
func TestStopWithHangingServer(t *testing.T) {
	p := &fakeServer{hang: make(chan struct{})}
	d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, signInEmail(), signInEmail())
	defer close(p.hang)
	d.grace = time.Millisecond
	waiting := make(chan struct{})
	p.answer = func(int) error { close(waiting); return nil }
	stop := d.run(t)
	<-waiting
	stop()
	first, second := <-d.outbox.updates, <-d.outbox.updates
	if first.Tries != 1 || second.Tries != 0 || second.Due.After(d.now()) {
		t.Errorf("put back: %+v and %+v", first, second)
	}
}

// TestConnectionLostAfterAcceptance checks that an e-mail is not sent again if the server accepts it and closes the
// connection before QUIT.
func TestConnectionLostAfterAcceptance(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error)
	go func() { done <- takeOneEmail(l) }()
	d := newTestSender(t, Config{SMTPURL: "smtp://" + l.Addr().String()}, signInEmail())
	stop := d.run(t)
	if updates := <-d.outbox.updates; updates.Tries != -1 {
		t.Errorf("put back after it was taken\n%s", d.log)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// takeOneEmail implements just enough SMTP to accept one e-mail, then closes the connection.
func takeOneEmail(l net.Listener) (err error) {
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

func TestTwoSendersSendEachOnce(t *testing.T) {
	p := &fakeServer{}
	const emails = 50
	all := make([]mapdata.Email, emails)
	for i := range all {
		all[i] = signInEmail()
	}
	d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, all...)
	other := *d
	second := *d.Sender
	second.queued, second.sent = signal.NewMailQueued(), make(map[int64]bool)
	other.Sender = &second
	stop, stopOther := d.run(t), other.run(t)
	for range emails {
		if l := <-d.outbox.updates; l.Tries != -1 {
			t.Errorf("e-mail %d failed\n%s", l.ID, d.log)
		}
	}
	stop()
	stopOther()
	ids := map[string]bool{}
	for _, l := range p.emails() {
		msg, _ := parse(t, l.data)
		ids[msg.Header.Get("Message-Id")] = true
	}
	if len(ids) != emails || len(p.emails()) != emails {
		t.Errorf("%d e-mails arrived with %d ids, want %d", len(p.emails()), len(ids), emails)
	}
}
