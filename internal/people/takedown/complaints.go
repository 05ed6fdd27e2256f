package takedown

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
)

// Complain stores a complaint for curators that the source of a pin is wrong, with a text of at most 500 characters,
// which may be empty. An account has one open complaint on a source, which another one replaces. The caller has checked
// that the account may read the pin. It fails with mapdata.ErrNotFound for an invalid id, with a *mapdata.InvalidError,
// and with a *mapdata.LimitError beyond 10 complaints a day.
func (s *Service) Complain(ctx context.Context, account mapdata.AccountID, id, text string) error {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return noPin()
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if err := checkComplaint(text); err != nil {
		return err
	}
	now := s.now()
	c := &mapdata.Complaint{ID: strings.ToLower(rand.Text()), Source: source, ExternalID: externalID, Account: account, Text: text, At: now}
	err := s.Store.Complain(ctx, c, now.Add(-24*time.Hour), mapdata.ComplaintsPerDay)
	if err != nil {
		return fmt.Errorf("store complaint: %w", err)
	}
	return nil
}

func checkComplaint(text string) error {
	e := mapdata.FieldError{Field: "text"}
	switch {
	case utf8.RuneCountInString(text) > mapdata.MaxComplaintText:
		e.Code, e.Message, e.Limit = "too_long", fmt.Sprintf("must have at most %d characters", mapdata.MaxComplaintText), mapdata.MaxComplaintText
	case strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || r == utf8.RuneError) }):
		e.Code, e.Message = "invalid_characters", "must not hold control characters"
	default:
		return nil
	}
	return &mapdata.InvalidError{Fields: []mapdata.FieldError{e}}
}

// Complaints lists the open complaints, the oldest first, at most MaxListed, and returns the number of all open ones.
// It fails with mapdata.ErrForbidden for an actor who may not review.
func (s *Service) Complaints(ctx context.Context, by mapdata.Actor) (all []mapdata.Complaint, open int, err error) {
	if err := review.CheckCurator(by, "Only curators read complaints."); err != nil {
		return nil, 0, err
	}
	if all, open, err = s.Store.Complaints(ctx, MaxListed); err != nil {
		return nil, 0, fmt.Errorf("list complaints: %w", err)
	}
	names := make(map[mapdata.SourceID]string)
	for i := range all {
		source := all[i].Source
		if _, known := names[source]; !known {
			if names[source], err = s.nameOf(ctx, source); err != nil {
				return nil, 0, err
			}
		}
		all[i].SourceName = names[source]
	}
	return all, open, nil
}

// nameOf returns the current name of a source; empty: it has none, or no longer exists.
func (s *Service) nameOf(ctx context.Context, source mapdata.SourceID) (string, error) {
	id, ok := source.FeedID()
	if !ok {
		return "", nil
	}
	f, err := s.Store.Feed(ctx, id)
	if errors.Is(err, mapdata.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read feed: %w", err)
	}
	return f.Name, nil
}

// CloseComplaint removes a complaint from the queue, with a note for the audit log of at most 500 characters. It fails
// with mapdata.ErrForbidden for an actor who may not review, and with mapdata.ErrNotFound.
func (s *Service) CloseComplaint(ctx context.Context, by mapdata.Actor, id, note string) error {
	if err := review.CheckCurator(by, "Only curators close complaints."); err != nil {
		return err
	}
	if note = strings.TrimSpace(note); note != "" {
		var err error
		if note, err = mapdata.CleanReason(note); err != nil {
			return err
		}
	}
	now := s.now()
	err := s.Store.CloseComplaint(ctx, id, now, func(source mapdata.SourceID) mapdata.AuditEntry {
		return mapdata.AuditEntry{
			At: now, Actor: by.Account(), Via: mapdata.ViaOf(ctx), Action: mapdata.AuditComplaintClose, Subject: string(source), Note: note,
		}
	})
	if err != nil {
		return fmt.Errorf("close complaint: %w", err)
	}
	return nil
}
