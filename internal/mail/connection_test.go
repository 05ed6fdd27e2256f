package mail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"wayside/internal/mapdata"
)

func manyLetters(n int) []mapdata.Letter {
	all := make([]mapdata.Letter, n)
	for i := range all {
		all[i] = mapdata.Letter{Kind: mapdata.LetterApproved, Data: map[string]string{"feed_name": fmt.Sprint("feed ", i)}}
	}
	return all
}

func TestLettersShareAConnection(t *testing.T) {
	server, client := certificates(t)
	tests := []struct {
		name        string
		most        int
		rude        bool
		connections int
	}{
		{"a server that takes them all", 0, false, 1},
		{"a server that answers 421 after three", 3, false, 7},
		{"a server that hangs up after three", 3, true, 7},
		{"a server that takes but one", 1, true, 20},
	}
	for _, tt := range tests {
		for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
			t.Run(tt.name+" "+scheme, func(t *testing.T) {
				p := &post{most: tt.most, rude: tt.rude, auth: true}
				addr := p.serve(t, server, implicit)
				d := newDesk(t, Config{SMTPURL: scheme + "://post:letmein@" + addr, TLS: client}, manyLetters(20)...)
				d.empty(t.Context())
				once := make(map[string]int)
				for _, l := range p.letters() {
					msg, _ := parse(t, l.data)
					once[subjectOf(t, msg)]++
				}
				if len(once) != 20 || len(p.letters()) != 20 || d.outbox.waiting() != 0 {
					t.Errorf("%d letters of %d arrived, %d wait\n%s", len(p.letters()), len(once), d.outbox.waiting(), d.log)
				}
				// Before TLS and after it are two sessions to the server.
				if n := p.connections; n != tt.connections && n != 2*tt.connections {
					t.Errorf("%d connections, want %d", n, tt.connections)
				}
			})
		}
	}
}

// What is wrong with one letter does not hold up the next, over the same connection.
func TestARefusalInTheMidst(t *testing.T) {
	for _, code := range []int{451, 550} {
		p := &post{answer: func(n int) error {
			if n == 2 {
				return &smtp.SMTPError{Code: code, Message: "not this one"}
			}
			return nil
		}}
		d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, manyLetters(3)...)
		d.empty(t.Context())
		left := 0
		if code == 451 {
			left = 1
		}
		if len(p.letters()) != 2 || p.connections != 1 || d.outbox.waiting() != left {
			t.Errorf("%d: %d letters arrived over %d connections, %d wait", code, len(p.letters()), p.connections, d.outbox.waiting())
		}
	}
}

// Only what the server says of the letter itself ends it: the rest the operator mends, or time.
func TestWhichAnswersAreFinal(t *testing.T) {
	for code, ended := range map[int]bool{
		421: false, 450: false, 451: false, 452: false, 530: false, 535: false, 552: false, 550: true, 551: true, 553: true, 554: true,
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			p := &post{answer: func(int) error { return &smtp.SMTPError{Code: code, Message: "ada@example.org"} }}
			d := newDesk(t, Config{SMTPURL: "smtp://" + p.serve(t, nil, false)}, manyLetters(1)...)
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

// A wrong password is nothing that a letter could be blamed for, and is not tried for each of them.
func TestAWrongPasswordEndsNoLetter(t *testing.T) {
	server, client := certificates(t)
	p := &post{auth: true, refuse: true}
	d := newDesk(t, Config{SMTPURL: "smtps://post:letmein@" + p.serve(t, server, true), TLS: client}, manyLetters(5)...)
	d.empty(t.Context())
	if d.outbox.waiting() != 5 || p.connections != 1 || !strings.Contains(d.log.String(), "535") {
		t.Errorf("%d wait\n%s", d.outbox.waiting(), d.log)
	}
	d.noSecretsInLog(t)
}

// A password is shown to nobody who listens on the way, even where TLS was switched off.
func TestNoPasswordInClear(t *testing.T) {
	for _, query := range []string{"", "?starttls=optional", "?starttls=never"} {
		p := &post{auth: true}
		d := newDesk(t, Config{SMTPURL: "smtp://post:letmein@" + p.serve(t, nil, false) + query}, manyLetters(1)...)
		d.empty(t.Context())
		if p.login != "" || d.outbox.waiting() != 1 || len(p.letters()) != 0 {
			t.Errorf("%q: signed in as %q, %d letters wait", query, p.login, d.outbox.waiting())
		}
	}
}
