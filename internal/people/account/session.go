package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"wayside/internal/ground/mapdata"
)

// maxAgentLength is the number of characters of a User-Agent that are stored.
const maxAgentLength = 200

// signedIn is a cached session with its account.
type signedIn struct {
	session *mapdata.Session
	account *mapdata.Account
}

// newSession creates a session after a sign-in by e-mail, in place of the browser's current one.
func (s *Service) newSession(ctx context.Context, account *mapdata.Account, from Browser) (*SignedIn, error) {
	in := s.draftSession(clean(from.Agent, maxAgentLength), s.now())
	in.Account, in.Session.Account = account, account.ID
	in.Session.ProvedAt = in.Session.CreatedAt
	if err := s.store.CreateSession(ctx, in.Session, from.replaces()); err != nil {
		return nil, fmt.Errorf("store session: %w", err)
	}
	s.replaced(from)
	return in, nil
}

// replaced makes the end of the browser's earlier session take effect immediately on this node, and ends its streams on every node.
func (s *Service) replaced(from Browser) {
	if from.Session != nil {
		s.rightsChanged()
	}
}

// rightsChanged drops cached sessions and tokens, and notifies followers of the change of sessions, API tokens or roles, so that streams
// end.
func (s *Service) rightsChanged() {
	s.ForgetCached()
	s.changed.Notify()
}

// ForgetCached drops cached sessions and API tokens, so that the next use of each looks it up.
func (s *Service) ForgetCached() {
	s.sessions.clear()
	s.tokens.clear()
}

// draftSession creates a session without an account; the caller sets it.
func (s *Service) draftSession(agent string, now time.Time) *SignedIn {
	secret := newSecret()
	hash, _ := secretHash(secret)
	return &SignedIn{
		Session: &mapdata.Session{ID: newID(), TokenHash: hash[:], CreatedAt: now, SeenAt: now, Agent: agent},
		Secret:  secret,
	}
}

// clean replaces the control characters of a client's text and truncates it to length characters.
func clean(text string, length int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > length {
		text = string(runes[:length])
	}
	return text
}

// Authenticate returns the session to which a cookie's value belongs, and its account. The result is cached for a second. It fails with
// mapdata.ErrUnauthenticated for an unknown or expired session (D11.2).
func (s *Service) Authenticate(ctx context.Context, secret string) (*mapdata.Session, *mapdata.Account, error) {
	hash, ok := secretHash(secret)
	if !ok {
		return nil, nil, mapdata.ErrUnauthenticated
	}
	now := s.now()
	found, epoch := s.sessions.get(hash, now)
	if found == nil {
		session, account, err := s.store.Session(ctx, hash[:])
		if errors.Is(err, mapdata.ErrNotFound) {
			return nil, nil, mapdata.ErrUnauthenticated
		}
		if err != nil {
			return nil, nil, fmt.Errorf("find session: %w", err)
		}
		found = &signedIn{session, account}
		if session.Alive(now) {
			s.touch(&session.SeenAt, now, func() error { return s.store.TouchSession(ctx, session.ID, now) })
			s.sessions.put(hash, found, epoch, now)
		}
	}
	if !found.session.Alive(now) {
		return nil, nil, mapdata.ErrUnauthenticated
	}
	return found.session, found.account, nil
}

// touch records a use, at most once an hour. A failed write (full disk) is logged and does not fail the request.
func (s *Service) touch(seen *time.Time, now time.Time, store func() error) {
	if now.Sub(*seen) < touchInterval {
		return
	}
	if err := store(); err != nil {
		s.log.Warn("last use not recorded", "error", err)
		return
	}
	*seen = now
}

// SignOut ends a session and its account's approvals of screens that have not signed in yet (D11.10), immediately on this node. A session
// that has ended already is not an error.
func (s *Service) SignOut(ctx context.Context, session *mapdata.Session) error {
	err := s.EndSession(ctx, session.Account, session.ID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return nil
	}
	return err
}

// Sessions lists the account's sessions that have not ended.
func (s *Service) Sessions(ctx context.Context, id mapdata.AccountID) ([]mapdata.Session, error) {
	all, err := s.store.Sessions(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	now := s.now()
	alive := make([]mapdata.Session, 0, len(all))
	for i := range all {
		if all[i].Alive(now) {
			alive = append(alive, all[i])
		}
	}
	return alive, nil
}

// EndSession ends a session of the account, immediately on this node. It fails with mapdata.ErrNotFound.
func (s *Service) EndSession(ctx context.Context, id mapdata.AccountID, session string) error {
	err := s.store.DeleteSession(ctx, id, session)
	s.rightsChanged()
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// EndOtherSessions ends all sessions of the account but the given one, and its approvals of screens that have not signed in yet.
func (s *Service) EndOtherSessions(ctx context.Context, but *mapdata.Session) error {
	err := s.store.DeleteOtherSessions(ctx, but.Account, but.ID)
	s.rightsChanged()
	if err != nil {
		return fmt.Errorf("end other sessions: %w", err)
	}
	return nil
}
