package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wayside/internal/ground/mapdata"
)

// Store reads the log.
type Store interface {
	// Audit reads entries, newest first.
	Audit(ctx context.Context, q *mapdata.AuditQuery) ([]mapdata.AuditRecord, error)
	// AccountByEmail reads the account of an address, or fails with mapdata.ErrNotFound.
	AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error)
}

// Service implements the use case. Its methods are safe for concurrent use.
type Service struct{ store Store }

// New creates a Service.
func New(store Store) *Service { return &Service{store} }

// PageLength is the number of entries of a page of the log.
const PageLength = 50

// Filter selects entries. Empty fields match everything.
type Filter struct {
	Feed    string // id
	Subject string // any id
	Action  string // one of mapdata's actions
	Account string // id or e-mail address
	Before  int64  // entries older than this one; 0: from the newest
}

// Page is a part of the log, newest first.
type Page struct {
	Records []mapdata.AuditRecord
	Next    int64 // Before of the next page; 0: this is the last one
}

// Read reads a page of the entries that the account may see. It fails with mapdata.ErrForbidden for an account that is
// neither curator nor admin, and with a *mapdata.InvalidError for a filter that is neither an id nor a known address.
func (s *Service) Read(ctx context.Context, by *mapdata.Account, f Filter) (*Page, error) {
	if by == nil || !by.MayReview() {
		return nil, mapdata.Describe(mapdata.ErrForbidden, "Only curators and admins read the audit log.")
	}
	var allowed []string
	if by.Role != mapdata.Admin {
		allowed = mapdata.AuditForCurators()
	}
	return s.read(ctx, f, allowed, PageLength)
}

// ReadAll reads at most limit entries regardless of the caller, for the operator. It fails as Read does.
func (s *Service) ReadAll(ctx context.Context, f Filter, limit int) (*Page, error) {
	return s.read(ctx, f, nil, limit)
}

// read reads the newest entries of the filter; allowed are the actions that may be read, nil: all.
func (s *Service) read(ctx context.Context, f Filter, allowed []string, limit int) (*Page, error) {
	q, err := s.query(ctx, f)
	if err != nil {
		return nil, err
	}
	q.Limit = limit + 1
	switch {
	case f.Action == "":
		q.Actions = allowed
	case allowed == nil || slices.Contains(allowed, f.Action):
		q.Actions = []string{f.Action}
	default:
		q.Actions = []string{} // none
	}
	all, err := s.store.Audit(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	page := &Page{Records: all}
	if len(all) > limit {
		page.Records = all[:limit]
		page.Next = all[limit-1].ID
	}
	return page, nil
}

func (s *Service) query(ctx context.Context, f Filter) (*mapdata.AuditQuery, error) {
	q := &mapdata.AuditQuery{Subject: f.Subject, Before: f.Before}
	var fieldErrors []mapdata.FieldError
	if f.Feed != "" {
		if _, ok := mapdata.ParseFeedID(f.Feed); !ok {
			fieldErrors = append(fieldErrors, mapdata.FieldError{Field: "feed", Code: "invalid_id", Message: "must be the id of a feed"})
		}
		q.Subject = f.Feed
	}
	if f.Account != "" {
		id, ok := mapdata.ParseAccountID(f.Account)
		if !ok {
			account, err := s.store.AccountByEmail(ctx, f.Account)
			switch {
			case errors.Is(err, mapdata.ErrNotFound):
				fieldErrors = append(fieldErrors, mapdata.FieldError{Field: "account", Code: "unknown_account", Message: "must be the id or the address of an account"})
			case err != nil:
				return nil, fmt.Errorf("find account: %w", err)
			default:
				id = account.ID
			}
		}
		q.Account = id
	}
	if fieldErrors != nil {
		return nil, &mapdata.InvalidError{Fields: fieldErrors}
	}
	return q, nil
}
