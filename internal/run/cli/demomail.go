package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// demoAccounts are the accounts of the demo, one for each role of its visitors.
var demoAccounts = [...]struct{ role, email string }{
	{"driver", "driver@example.org"},
	{"provider", demoProvider},
	{"curator", demoCurator},
}

const (
	demoProvider = "town@example.org"    // owns the feeds of the town
	demoCurator  = "curator@example.org" // approves what visitors publish
)

// outboxEvery is how often the demo looks for new e-mails.
const outboxEvery = 500 * time.Millisecond

// codeLine matches the line of an e-mail with a sign-in code.
var codeLine = regexp.MustCompile(`(?m)^\s*(\d{8})\s*$`)

// printEmails prints the recipient, the subject and the code of each e-mail that the service writes after the welcome, so that a
// visitor needs no mailbox.
func (d *demoRun) printEmails(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.welcomed:
	}
	tick := time.NewTicker(outboxEvery)
	defer tick.Stop()
	printed, err := emailFiles(d.outbox)
	if err != nil {
		return err
	}
	for {
		names, err := emailFiles(d.outbox)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(printed, name) {
				d.printEmail(filepath.Join(d.outbox, name))
			}
		}
		printed = names // the service removes files after a day
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// emailFiles lists the finished e-mails of a folder, the oldest first; none if there is no folder yet.
func emailFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".eml") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func (d *demoRun) printEmail(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return // the service removed it meanwhile
	}
	to, subject := "", ""
	if message, err := mail.ReadMessage(strings.NewReader(string(text))); err == nil {
		to, subject = strings.Trim(message.Header.Get("To"), "<>"), message.Header.Get("Subject")
	}
	if found := codeLine.FindSubmatch(text); found != nil {
		d.printf("E-mail to %s: the sign-in code is %s\n", printable(to), found[1])
		return
	}
	d.printf("E-mail to %s: %s\n  %s\n", printable(to), printable(subject), path)
}

// signInLinks returns lines with a sign-in link for each role.
func (d *demoRun) signInLinks(ctx context.Context) (string, error) {
	var lines strings.Builder
	for _, a := range demoAccounts {
		token, err := d.service.Accounts.LoginLink(ctx, a.email)
		if err != nil {
			return "", err
		}
		lines.WriteString("  " + (a.role + ":         ")[:10] + signInLink(d.base, token) + "\n")
	}
	return lines.String(), nil
}
