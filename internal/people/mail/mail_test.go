package mail

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// parse parses an e-mail and returns its plain text.
func parse(t *testing.T, data string) (*mail.Message, string) {
	t.Helper()
	msg, text, _ := parseBoth(t, data)
	return msg, text
}

// parseBoth returns both parts of an e-mail and checks that there are no others.
func parseBoth(t *testing.T, data string) (msg *mail.Message, text, page string) {
	t.Helper()
	msg, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, parameters, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %s (%v)", kind, err)
	}
	parts := multipart.NewReader(msg.Body, parameters["boundary"])
	var bodies []string
	for _, want := range []string{"text/plain", "text/html"} { // in increasing order of preference (RFC 2046, 5.1.4)
		part, err := parts.NextPart()
		if err != nil {
			t.Fatalf("part %s: %v", want, err)
		}
		kind, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || kind != want || !strings.EqualFold(parameters["charset"], "utf-8") {
			t.Fatalf("part of type %s %v (%v), want %s", kind, parameters, err, want)
		}
		body, err := io.ReadAll(part) // decodes quoted-printable
		if err != nil || !utf8.Valid(body) {
			t.Fatalf("body of %s: %v", kind, err)
		}
		bodies = append(bodies, strings.ReplaceAll(string(body), "\r\n", "\n"))
	}
	if _, err := parts.NextPart(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last part: %v", err)
	}
	return msg, bodies[0], bodies[1]
}

func subjectOf(t *testing.T, msg *mail.Message) string {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

// files reads the outbox folder: contents by name.
func (d *testSender) files(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(d.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(d.folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// one returns the only file in the folder.
func (d *testSender) one(t *testing.T) (name, data string) {
	t.Helper()
	all := d.files(t)
	if len(all) != 1 {
		t.Fatalf("%d files, want 1\n%s", len(all), d.log)
	}
	for name, data = range all {
		return name, data
	}
	return "", ""
}

func TestFiles(t *testing.T) {
	d := newTestSender(t, Config{}, signInEmail())
	stop := d.run(t)
	<-d.outbox.updates
	stop()
	name, data := d.one(t)
	if want := "20261120T080000.000Z-sign_in-1.eml"; name != want {
		t.Errorf("name %s, want %s", name, want)
	}
	info, err := os.Stat(filepath.Join(d.folder, name))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if info, err := os.Stat(d.folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the folder %v (%v)", info.Mode(), err)
	}
	// The file contains the link unencoded.
	if !regexp.MustCompile(`(?m)^    https://wayside\.example\.org/auth/verify\?token=T0kenOfTheLink\r$`).MatchString(data) {
		t.Errorf("no plain link in:\n%s", data)
	}
	msg, text := parse(t, data)
	if !regexp.MustCompile(`(?m)^    00420815$`).MatchString(text) {
		t.Errorf("no code in:\n%s", text)
	}
	if to, err := mail.ParseAddress(msg.Header.Get("To")); err != nil || to.Address != "ada@example.org" {
		t.Errorf("To: %s (%v)", msg.Header.Get("To"), err)
	}
	if at, err := msg.Header.Date(); err != nil || !at.Equal(start) {
		t.Errorf("Date: %v (%v)", at, err)
	}
	if subject := subjectOf(t, msg); subject != "Sign in to Wayside" || strings.Contains(d.log.String(), subject) {
		t.Errorf("subject %q, and the log, which must not have it: %s", subject, d.log)
	}
	if log := d.log.String(); !strings.Contains(log, "kind=") || !strings.Contains(log, "file=") {
		t.Errorf("the log does not name kind and file: %s", log)
	}
	d.noSecretsInLog(t)
}

func TestEmails(t *testing.T) {
	feed := func(more map[string]string) map[string]string {
		data := map[string]string{"feed_name": "Chargers of Ghent", "feed_id": "0190-feed"}
		for k, v := range more {
			data[k] = v
		}
		return data
	}
	tests := []struct {
		name    string
		email   mapdata.Email
		subject string
		has     []string
		hasNot  []string
	}{
		{
			"approved",
			mapdata.Email{Kind: mapdata.EmailApproved, Data: feed(nil)},
			"Feed approved: Chargers of Ghent",
			[]string{"“Chargers of Ghent”", "0190-feed", "https://wayside.example.org"},
			[]string{"note"},
		},
		{
			"rejected, with the note",
			mapdata.Email{Kind: mapdata.EmailRejected, Data: feed(map[string]string{"note": "Cameras lie\nin the sea."})},
			"Feed rejected: Chargers of Ghent",
			[]string{"\n    Cameras lie\n    in the sea.\n", "/v2/feeds/0190-feed"},
			nil,
		},
		{
			"an app, with the note",
			mapdata.Email{Kind: mapdata.EmailAppRejected, Data: map[string]string{"app_name": "Trip {note}\r\nBcc: x", "app_id": "0190/app", "note": "Say what\nit does."}},
			"App rejected: Trip {note} Bcc: x",
			[]string{"    Say what\n    it does.\n", "https://wayside.example.org/apps/own/0190%2Fapp"},
			[]string{"\nBcc", "List-Id"},
		},
		{
			"deactivated",
			mapdata.Email{Kind: mapdata.EmailDeactivated, Data: feed(map[string]string{"error": "HTTP 404"})},
			"Feed deactivated: Chargers of Ghent",
			[]string{"20 failed fetches", "    HTTP 404\n", `{"active": true}`},
			nil,
		},
		{
			"shrank",
			mapdata.Email{Kind: mapdata.EmailShrank, Data: feed(map[string]string{"rows": "12", "rows_before": "3400"})},
			"Feed shrank: Chargers of Ghent",
			[]string{"12 instead of 3400."},
			nil,
		},
		{
			"header injection",
			mapdata.Email{Kind: mapdata.EmailApproved, Data: feed(map[string]string{"feed_name": "x\r\nBcc: eve@example.com\r\n\r\nHello"})},
			"Feed approved: x Bcc: eve@example.com  Hello", nil,
			[]string{"\nBcc"},
		},
		{
			"bidirectional override, NUL, escapes, invalid UTF-8",
			mapdata.Email{Kind: mapdata.EmailApproved, Data: feed(map[string]string{"feed_name": "a\u202eb\x00c\x1b[31m\xffd"})},
			"Feed approved: a b c [31m\uFFFDd", nil,
			[]string{"\u202e", "\x00", "\x1b"},
		},
		{
			"a long name",
			mapdata.Email{Kind: mapdata.EmailApproved, Data: feed(map[string]string{"feed_name": strings.Repeat("ü", 5000)})},
			"Feed approved: " + strings.Repeat("ü", 199) + "…", nil, nil,
		},
		{
			"a note of one endless line",
			mapdata.Email{Kind: mapdata.EmailRejected, Data: feed(map[string]string{"note": strings.Repeat("x", 90_000)})},
			"Feed rejected: Chargers of Ghent",
			[]string{strings.Repeat("    "+strings.Repeat("x", 200)+"\n", 19) + "    " + strings.Repeat("x", 199) + "…\n"},
			nil,
		},
		{
			"templates in values stay text",
			mapdata.Email{Kind: mapdata.EmailApproved, Data: feed(map[string]string{"feed_name": "{{.base_url}}", "base_url": "https://evil.example"})},
			"Feed approved: {{.base_url}}", nil,
			[]string{"evil"},
		},
		{
			"a new passkey",
			mapdata.Email{
				Kind: mapdata.EmailPasskeyAdded, Data: map[string]string{"name": "Phone", "made_id": "abc/../x"},
				At: time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600)), Language: mapdata.German,
			},
			"Ihrem Konto wurde ein Passkey hinzugefügt",
			[]string{"„Phone“", "2026-11-21 08:30 UTC", "https://wayside.example.org/account/passkeys/abc%2F..%2Fx/remove", "/account#sessions"},
			[]string{"List-Id"},
		},
		{
			"a new API token",
			mapdata.Email{Kind: mapdata.EmailTokenMade, Data: map[string]string{"name": "Server", "made_id": "abc", "token": "wsk_x"}},
			"An API token was created for your account",
			[]string{"“Server”", "https://wayside.example.org/account/tokens/abc/revoke"},
			[]string{"wsk_x", "List-Id"},
		},
		{
			"values that are missing",
			mapdata.Email{Kind: mapdata.EmailShrank},
			"Feed shrank: ",
			[]string{"fewer than half the rows"},
			[]string{"<no value>"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newTestSender(t, Config{}, tt.email)
			stop := d.run(t)
			<-d.outbox.updates
			stop()
			name, data := d.one(t)
			if strings.Contains(name, "@") {
				t.Errorf("name %s", name)
			}
			msg, text := parse(t, data)
			if got := subjectOf(t, msg); got != strings.TrimSpace(tt.subject) {
				t.Errorf("subject %q, want %q", got, tt.subject)
			}
			if len(msg.Header["Bcc"])+len(msg.Header["Cc"]) > 0 || len(msg.Header["To"]) != 1 {
				t.Errorf("header %v", msg.Header)
			}
			for _, want := range tt.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in:\n%s", want, text)
				}
			}
			for _, not := range tt.hasNot {
				if strings.Contains(data, not) {
					t.Errorf("%q is in:\n%s", not, data)
				}
			}
			for line := range strings.SplitSeq(data, "\n") {
				if len(line) > 998 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add("name", "note")
	f.Add("a\r\nBcc: b@c.example", "\x00")
	texts, err := newTexts("https://wayside.example.org")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, note string) {
		for _, language := range mapdata.Languages() {
			l, err := texts.render(&mapdata.Email{
				Kind: mapdata.EmailRejected, Data: map[string]string{"feed_name": name, "note": note}, Language: language,
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(l.subject, "\r\n\x00") || strings.ContainsAny(l.text+l.html, "\r\x00\x1b\u202e") {
				t.Errorf("control characters in %q, %q or %q", l.subject, l.text, l.html)
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	for tries, want := range map[int]time.Duration{
		0: time.Minute, 1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 8: time.Hour, 1 << 40: time.Hour,
	} {
		if got := Backoff(tries); got != want {
			t.Errorf("after %d failures %v, want %v", tries, got, want)
		}
	}
}

func TestGivenUp(t *testing.T) {
	tests := []struct {
		name string
		kind mapdata.EmailKind
		age  time.Duration
		sent bool
	}{
		{"an approval of almost three days", mapdata.EmailApproved, 3*24*time.Hour - time.Second, true},
		{"an approval of three days", mapdata.EmailApproved, 3 * 24 * time.Hour, false},
		{"a sign-in of almost ten minutes", mapdata.EmailSignIn, 10*time.Minute - time.Second, true},
		{"a sign-in of ten minutes", mapdata.EmailSignIn, 10 * time.Minute, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newTestSender(t, Config{}, mapdata.Email{Kind: tt.kind, At: start.Add(-tt.age)})
			stop := d.run(t)
			<-d.outbox.updates
			stop()
			if n := len(d.files(t)); (n == 1) != tt.sent || strings.Contains(d.log.String(), "given up") == tt.sent {
				t.Errorf("%d e-mails written, log %s", n, d.log)
			}
			if d.outbox.waiting() != 0 {
				t.Error("the e-mail waits on")
			}
		})
	}
}

// TestLeaseExpires checks that an e-mail that a dead process had leased is sent by another when the lease expires, and
// not before.
func TestLeaseExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestSender(t, Config{Now: time.Now}, mapdata.Email{Kind: mapdata.EmailApproved, At: time.Now()})
		if due, err := d.outbox.DueEmails(t.Context(), time.Now(), time.Now().Add(leaseTime), batchSize); err != nil || len(due) != 1 {
			t.Fatal("the e-mail was not leased", err)
		}
		stop := d.run(t)
		time.Sleep(leaseTime - time.Second)
		if n := len(d.files(t)); n != 0 {
			t.Error("sent while another process held the lease")
		}
		time.Sleep(pollInterval + time.Second)
		if n := len(d.files(t)); n != 1 {
			t.Errorf("%d e-mails after the lease, want 1", n)
		}
		stop()
	})
}

func TestNotifyAndPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestSender(t, Config{Now: time.Now})
		stop := d.run(t)
		synctest.Wait()
		add := func() {
			d.outbox.mu.Lock()
			defer d.outbox.mu.Unlock()
			d.outbox.emails = append(d.outbox.emails, mapdata.Email{
				ID: time.Now().UnixNano(), Kind: mapdata.EmailApproved, Address: "ada@example.org", At: time.Now(),
			})
		}
		add()
		d.queued.Notify()
		synctest.Wait()
		if n := len(d.files(t)); n != 1 {
			t.Errorf("%d e-mails after a notification, want 1", n)
		}
		add()
		time.Sleep(pollInterval + time.Second)
		if n := len(d.files(t)); n != 2 {
			t.Errorf("%d e-mails after the poll, want 2", n)
		}
		stop()
		d.queued.Notify()
		d.queued.Notify() // without a receiver, must not block
	})
}

// TestUnwritableFolder checks that if the directory cannot be written, no partial file remains and the e-mail is
// retried.
func TestUnwritableFolder(t *testing.T) {
	d := newTestSender(t, Config{}, mapdata.Email{Kind: mapdata.EmailApproved})
	if err := os.WriteFile(d.folder, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	defer d.run(t)()
	if l := <-d.outbox.updates; l.Tries != 1 {
		t.Fatalf("tries %d", l.Tries)
	}
	if err := os.Remove(d.folder); err != nil {
		t.Fatal(err)
	}
	d.fakeClock.add(time.Minute)
	d.queued.Notify()
	if l := <-d.outbox.updates; l.Tries != -1 {
		t.Errorf("not written once it could be\n%s", d.log)
	}
	d.one(t)
}

// TestCopyHasSameMessageID checks that if the update of the outbox fails and the process dies, the second copy has the
// Message-ID of the first.
func TestCopyHasSameMessageID(t *testing.T) {
	d := newTestSender(t, Config{}, mapdata.Email{Kind: mapdata.EmailApproved})
	d.outbox.fail = errors.New("database is locked")
	d.empty(t.Context())
	d.outbox.fail = nil
	d.fakeClock.add(leaseTime)
	clear(d.sent) // as after a restart
	d.empty(t.Context())
	ids := map[string]bool{}
	for _, data := range d.files(t) {
		msg, _ := parse(t, data)
		ids[msg.Header.Get("Message-Id")] = true
	}
	if len(d.files(t)) != 2 || len(ids) != 1 {
		t.Errorf("%d copies with %d ids", len(d.files(t)), len(ids))
	}
}

// TestNoResendAfterOutboxFailure checks that if the update of the outbox fails for a while, a live process sends no
// second copy.
func TestNoResendAfterOutboxFailure(t *testing.T) {
	d := newTestSender(t, Config{}, mapdata.Email{Kind: mapdata.EmailApproved})
	d.outbox.fail = errors.New("database is locked")
	d.empty(t.Context())
	for range 3 { // the lease expires, and the e-mail is due again
		d.fakeClock.add(leaseTime)
		d.empty(t.Context())
	}
	if n := len(d.files(t)); n != 1 {
		t.Errorf("%d copies", n)
	}
	d.outbox.fail = nil
	d.empty(t.Context())
	if d.outbox.waiting() != 0 || len(d.files(t)) != 1 || len(d.sent) != 0 {
		t.Errorf("%d waiting, %d copies, %d remembered", d.outbox.waiting(), len(d.files(t)), len(d.sent))
	}
}

// TestNoSendNearLeaseEnd checks that an e-mail whose lease is about to expire is not sent, because another node might
// send it at the same time.
func TestNoSendNearLeaseEnd(t *testing.T) {
	d := newTestSender(t, Config{}, mapdata.Email{Kind: mapdata.EmailApproved}, mapdata.Email{Kind: mapdata.EmailApproved})
	d.observe = func(bool) { d.fakeClock.add(leaseTime - sendTimeout) } // how long the first one takes
	d.empty(t.Context())
	if n := len(d.files(t)); n != 1 || d.outbox.waiting() != 1 {
		t.Fatalf("%d e-mails written, %d waiting, want one of each", n, d.outbox.waiting())
	}
	d.fakeClock.add(sendTimeout)
	d.empty(t.Context())
	if n := len(d.files(t)); n != 2 {
		t.Errorf("%d e-mails after the lease, want 2", n)
	}
}

func TestNewErrors(t *testing.T) {
	tests := []struct {
		name string
		c    Config
		key  string
	}{
		{"no sender", Config{BaseURL: "http://127.0.0.1:8080"}, "mail.from"},
		{"sender with a line break", Config{BaseURL: "http://127.0.0.1:8080", From: "a@b.example\r\nBcc: c@d.example"}, "mail.from"},
		{"no address", Config{From: "wayside@localhost"}, "base_url"},
		{"another scheme", Config{BaseURL: "http://127.0.0.1:8080", From: "wayside@localhost", SMTPURL: "ftp://x"}, "mail.smtp_url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.c); err == nil || !strings.HasPrefix(err.Error(), tt.key) {
				t.Errorf("error %v, want one that names %s", err, tt.key)
			}
		})
	}
	if _, err := New(Config{BaseURL: "http://127.0.0.1:8080", From: "wayside@localhost"}); err != nil {
		t.Errorf("the defaults of D14: %v", err)
	}
}

// TestFilesAreRemovedAfterADay runs a sender for more than a day of virtual time, and checks that its files are removed
// once they are a day old, and other files stay (D11.11).
func TestFilesAreRemovedAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins on 2000-01-01 at midnight
		d := newTestSender(t, Config{Now: time.Now})
		if err := os.Mkdir(d.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"notes.txt", "mine.eml", "19991230T235959.000Z-sign_in-7.eml", "19991231T120000.000Z-approved-8.eml"} {
			if err := os.WriteFile(filepath.Join(d.folder, name), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		stop := d.run(t)
		defer stop()
		for _, step := range []struct {
			after time.Duration
			want  []string
		}{
			{time.Second, []string{"19991231T120000.000Z-approved-8.eml", "mine.eml", "notes.txt"}},
			{11*time.Hour + 50*time.Minute, []string{"19991231T120000.000Z-approved-8.eml", "mine.eml", "notes.txt"}},
			{20 * time.Minute, []string{"mine.eml", "notes.txt"}},
		} {
			time.Sleep(step.after)
			synctest.Wait()
			if got := slices.Sorted(maps.Keys(d.files(t))); !slices.Equal(got, step.want) {
				t.Errorf("after %v: %v, want %v", step.after, got, step.want)
			}
		}
	})
}
