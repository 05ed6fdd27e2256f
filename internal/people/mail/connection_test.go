package mail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"wayside/internal/ground/mapdata"
)

func manyEmails(n int) []mapdata.Email {
	all := make([]mapdata.Email, n)
	for i := range all {
		all[i] = mapdata.Email{Kind: mapdata.EmailApproved, Data: map[string]string{"feed_name": fmt.Sprint("feed ", i)}}
	}
	return all
}

func TestConnectionReuse(t *testing.T) {
	server, client := certificates(t)
	tests := []struct {
		name          string
		most          int
		closeSilently bool
		connections   int
	}{
		{"server accepts all", 0, false, 1},
		{"server replies 421 after three", 3, false, 7},
		{"server closes the connection after three", 3, true, 7},
		{"server accepts one per connection", 1, true, 20},
	}
	for _, tt := range tests {
		for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
			t.Run(tt.name+" "+scheme, func(t *testing.T) {
				p := &fakeServer{most: tt.most, closeSilently: tt.closeSilently, auth: true}
				addr := p.serve(t, server, implicit)
				d := newTestSender(t, Config{SMTPURL: scheme + "://post:letmein@" + addr, TLS: client}, manyEmails(20)...)
				d.empty(t.Context())
				once := make(map[string]int)
				for _, l := range p.emails() {
					msg, _ := parse(t, l.data)
					once[subjectOf(t, msg)]++
				}
				if len(once) != 20 || len(p.emails()) != 20 || d.outbox.waiting() != 0 {
					t.Errorf("%d e-mails of %d arrived, %d wait\n%s", len(p.emails()), len(once), d.outbox.waiting(), d.log)
				}
				// The server counts a session before STARTTLS and one after it.
				if n := p.connections; n != tt.connections && n != 2*tt.connections {
					t.Errorf("%d connections, want %d", n, tt.connections)
				}
			})
		}
	}
}

// TestRejectionKeepsConnection checks that a rejected e-mail does not delay the next one, which uses the same
// connection.
func TestRejectionKeepsConnection(t *testing.T) {
	for _, code := range []int{451, 550} {
		p := &fakeServer{answer: func(n int) error {
			if n == 2 {
				return &smtp.SMTPError{Code: code, Message: "not this one"}
			}
			return nil
		}}
		d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, manyEmails(3)...)
		d.empty(t.Context())
		left := 0
		if code == 451 {
			left = 1
		}
		if len(p.emails()) != 2 || p.connections != 1 || d.outbox.waiting() != left {
			t.Errorf("%d: %d e-mails arrived over %d connections, %d wait", code, len(p.emails()), p.connections, d.outbox.waiting())
		}
	}
}

// TestPermanentReplyCodes checks that only a permanent reply about the e-mail itself ends its retries, because other
// failures are fixed by the operator or are temporary.
func TestPermanentReplyCodes(t *testing.T) {
	for code, ended := range map[int]bool{
		421: false, 450: false, 451: false, 452: false, 530: false, 535: false, 552: false, 550: true, 551: true, 553: true, 554: true,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			p := &fakeServer{answer: func(int) error { return &smtp.SMTPError{Code: code, Message: "ada@example.org"} }}
			d := newTestSender(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, manyEmails(1)...)
			d.empty(t.Context())
			if (d.outbox.waiting() == 0) != ended || strings.Contains(d.log.String(), "given up") != ended {
				t.Errorf("%d wait\n%s", d.outbox.waiting(), d.log)
			}
			if !strings.Contains(d.log.String(), fmt.Sprint(code)) {
				t.Errorf("the log does not tell the answer:\n%s", d.log)
			}
			d.noSecretsInLog(t)
		})
	}
}

// TestAuthFailureKeepsEmails checks that an authentication failure does not end the retries of an e-mail, and is not
// repeated for each of them.
func TestAuthFailureKeepsEmails(t *testing.T) {
	server, client := certificates(t)
	p := &fakeServer{auth: true, refuse: true}
	d := newTestSender(t, Config{SMTPURL: "smtps://post:letmein@" + p.serve(t, server, true), TLS: client}, manyEmails(5)...)
	d.empty(t.Context())
	if d.outbox.waiting() != 5 || p.connections != 1 || !strings.Contains(d.log.String(), "535") {
		t.Errorf("%d wait\n%s", d.outbox.waiting(), d.log)
	}
	d.noSecretsInLog(t)
}

// TestNoPasswordWithoutTLS checks that a password is never sent without TLS, even if TLS is switched off.
func TestNoPasswordWithoutTLS(t *testing.T) {
	for _, query := range []string{"", "?starttls=optional", "?starttls=never"} {
		p := &fakeServer{auth: true}
		d := newTestSender(t, Config{SMTPURL: "smtp://post:letmein@" + p.serve(t, nil, false) + query}, manyEmails(1)...)
		d.empty(t.Context())
		if p.login != "" || d.outbox.waiting() != 1 || len(p.emails()) != 0 {
			t.Errorf("%q: signed in as %q, %d e-mails wait", query, p.login, d.outbox.waiting())
		}
	}
}
