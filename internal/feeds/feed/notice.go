package feed

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// Bounds of a notice, in characters.
const (
	maxNoticeSubject = 150
	maxNoticeText    = 10_000
)

// Notify queues an e-mail of the operator for all owners of feeds; no owner gets the same subject and text twice. With
// dryRun it only counts them. It fails with a *mapdata.InvalidError for a subject or text that cannot be sent.
func (s *Service) Notify(ctx context.Context, subject, text string, dryRun bool) (mapdata.NoticeResult, error) {
	n := &mapdata.Notice{Subject: strings.TrimSpace(subject), Text: strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), At: s.now()}
	var invalid mapdata.InvalidError
	check := func(field, value string, most int, lines bool) {
		refused := func(r rune) bool { return !unicode.IsPrint(r) && !(lines && (r == '\n' || r == '\t')) }
		switch {
		case value == "":
			invalid.Fields = append(invalid.Fields, mapdata.FieldError{Field: field, Code: "missing", Message: "must not be empty"})
		case utf8.RuneCountInString(value) > most:
			invalid.Fields = append(invalid.Fields, mapdata.FieldError{Field: field, Code: "too_long", Message: fmt.Sprintf("has more than %d characters", most)})
		case !utf8.ValidString(value) || strings.ContainsFunc(value, refused):
			invalid.Fields = append(invalid.Fields, mapdata.FieldError{Field: field, Code: "invalid", Message: "must be plain text in UTF-8"})
		}
	}
	check("subject", n.Subject, maxNoticeSubject, false)
	check("text", n.Text, maxNoticeText, true)
	if len(invalid.Fields) > 0 {
		return mapdata.NoticeResult{}, &invalid
	}
	result, err := s.Store.NotifyOwners(ctx, n, dryRun)
	if err != nil {
		return result, fmt.Errorf("notify owners of feeds: %w", err)
	}
	if !dryRun && result.Queued > 0 {
		s.Signals.MailQueued.Notify()
	}
	return result, nil
}
