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

	"wayside/internal/mapdata"
)

// longLine is what a line may have at most where it goes unencoded, in bytes (RFC 5322, 2.1.1).
const longLine = 998

// compose makes the message: the same text twice, plain and as HTML, for the reader's program to choose from.
func (s *Sender) compose(l *mapdata.Letter, now time.Time) (subject string, _ *gomail.Msg, _ error) {
	letter, err := s.texts.render(l)
	if err != nil {
		return "", nil, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	if err := msg.To(l.Address); err != nil {
		return "", nil, errors.New("the letter's address is none") // the cause repeats it
	}
	msg.SetGenHeaderPreformatted(gomail.HeaderSubject, fold(letter.subject))
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(s.messageID(l))
	msg.SetGenHeader("Content-Language", string(letter.language))
	// No machine is to answer (RFC 3834); the second is what Exchange heeds.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	if aboutFeed(l.Kind) {
		msg.SetGenHeader("List-Id", "<feeds."+s.host+">") // for filters (RFC 2919)
	}
	msg.SetBodyString(gomail.TypeTextPlain, crlf(letter.text), gomail.WithPartEncoding(s.encoding(letter.text)))
	msg.AddAlternativeString(gomail.TypeTextHTML, crlf(letter.html), gomail.WithPartEncoding(s.encoding(letter.html)))
	return letter.subject, msg, nil
}

// aboutFeed says whether a letter is one of those that a filter may well put into a folder of its own.
func aboutFeed(kind mapdata.LetterKind) bool {
	switch kind {
	case mapdata.LetterSignIn, mapdata.LetterPasskeyAdded, mapdata.LetterTokenMade:
		return false
	case mapdata.LetterApproved, mapdata.LetterRejected, mapdata.LetterDeactivated, mapdata.LetterShrank:
	}
	return true
}

// encodedBytes is how much of a text fits into an encoded word of the subject's first line, whose length is 76 at most (RFC
// 2047, 2).
const encodedBytes = 39

// fold writes a subject as lines of a header: as it is if it is short and plain, else in encoded words. No other text of
// the header comes from outside.
func fold(subject string) string {
	if plainASCII(subject) && len(subject) <= textWidth-len("Subject: ") {
		return subject
	}
	var lines []string
	word := ""
	for _, r := range subject {
		if len(word)+utf8.RuneLen(r) > encodedBytes {
			lines, word = append(lines, encodedWord(word)), ""
		}
		word += string(r)
	}
	return strings.Join(append(lines, encodedWord(word)), "\r\n ")
}

func encodedWord(text string) string {
	return "=?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// plainASCII says whether a text means the same in a header; what looks like an encoded word would not.
func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return !strings.Contains(text, "=?")
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// encoding is quoted-printable on the wire, which every server takes. A file shows the text as it is, so that a link can
// be copied from it, unless a line is too long for mail.
func (s *Sender) encoding(text string) gomail.Encoding {
	if s.server != nil {
		return gomail.EncodingQP
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > longLine {
			return gomail.EncodingQP
		}
	}
	return gomail.NoEncoding
}

// messageID is the same for every try of a letter, so that a letter which was sent twice after all is shown once.
func (s *Sender) messageID(l *mapdata.Letter) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", l.ID, l.Kind, l.At.UnixMilli()))
	return hex.EncodeToString(sum[:12]) + "@" + s.host
}

// domain is what ids of messages and lists end in: the service's host, or "localhost" where that is no name, such as an
// IPv6 address.
func domain(host string) string {
	if strings.Contains(host, ":") {
		return "localhost"
	}
	return host
}
