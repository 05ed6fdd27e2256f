package mail

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"wayside/internal/ground/mapdata"
)

// maxUnencodedLine is the maximum length of an unencoded line in bytes (RFC 5322, 2.1.1).
const maxUnencodedLine = 998

// compose builds the multipart message, with the same text as plain text and as HTML.
func (s *Sender) compose(l *mapdata.Email, now time.Time) (*gomail.Msg, error) {
	email, err := s.texts.render(l)
	if err != nil {
		return nil, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	if err := msg.To(l.Address); err != nil {
		return nil, errors.New("the e-mail's address is none") // without the cause, which repeats the address
	}
	msg.SetGenHeaderPreformatted(gomail.HeaderSubject, fold(email.subject))
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(s.messageID(l))
	msg.SetGenHeader("Content-Language", string(email.language))
	// Suppresses automatic replies (RFC 3834); Exchange reads the second header.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	if aboutFeed(l.Kind) {
		msg.SetGenHeader("List-Id", "<feeds."+s.host+">") // for filters (RFC 2919)
	}
	msg.SetBodyString(gomail.TypeTextPlain, crlf(email.text), gomail.WithPartEncoding(s.encoding(email.text)))
	msg.AddAlternativeString(gomail.TypeTextHTML, crlf(email.html), gomail.WithPartEncoding(s.encoding(email.html)))
	return msg, nil
}

// aboutFeed reports whether an e-mail is about a feed, and gets a List-Id for mail filters.
func aboutFeed(kind mapdata.EmailKind) bool {
	switch kind {
	case mapdata.EmailSignIn, mapdata.EmailChangeOld, mapdata.EmailChangeNew, mapdata.EmailPasskeyAdded, mapdata.EmailTokenMade, mapdata.EmailScreenPaired,
		mapdata.EmailAppApproved, mapdata.EmailAppRejected, mapdata.EmailAppSuspended, mapdata.EmailAppResumed,
		mapdata.EmailReviewWaiting, mapdata.EmailReviewDigest, mapdata.EmailReviewReminder:
		return false
	case mapdata.EmailApproved, mapdata.EmailRejected, mapdata.EmailChangeRejected, mapdata.EmailDeactivated, mapdata.EmailShrank,
		mapdata.EmailNotice, mapdata.EmailSilent, mapdata.EmailRejections, mapdata.EmailFailing:
	}
	return true
}

// maxEncodedWordBytes is the number of bytes that fit into an encoded word on the subject's first line, which may have 76
// characters (RFC 2047, 2).
const maxEncodedWordBytes = 39

// fold writes a subject as header lines: unencoded if it is short and plain ASCII, else as encoded words. No other header
// contains text from outside.
func fold(subject string) string {
	if plainASCII(subject) && len(subject) <= textWidth-len("Subject: ") {
		return subject
	}
	var lines []string
	word := ""
	for _, r := range subject {
		if len(word)+utf8.RuneLen(r) > maxEncodedWordBytes {
			lines, word = append(lines, encodedWord(word)), ""
		}
		word += string(r)
	}
	return strings.Join(append(lines, encodedWord(word)), "\r\n ")
}

func encodedWord(text string) string {
	return "=?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// plainASCII reports whether a text can be written unencoded in a header. A text that looks like an encoded word cannot.
func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return !strings.Contains(text, "=?")
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// encoding returns quoted-printable for SMTP, which every server accepts. A file contains the text unencoded, so that a
// link can be copied from it, unless a line is too long for mail.
func (s *Sender) encoding(text string) gomail.Encoding {
	if s.server != nil {
		return gomail.EncodingQP
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxUnencodedLine {
			return gomail.EncodingQP
		}
	}
	return gomail.NoEncoding
}

// messageID returns the same id for every attempt to send an e-mail, so that mail programs can deduplicate one that was
// sent twice.
func (s *Sender) messageID(l *mapdata.Email) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", l.ID, l.Kind, l.At.UnixMilli()))
	return hex.EncodeToString(sum[:12]) + "@" + s.host
}

// domain returns the right-hand side of message and list ids: the service's host, or "localhost" if that is an IPv6
// address.
func domain(host string) string {
	if strings.Contains(host, ":") {
		return "localhost"
	}
	return host
}
