package feed

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// People are the accounts that manage a feed, and the open invitations.
type People struct {
	*View
	Owns        bool // the actor is the owner
	Maintainers []mapdata.Maintainer
	Invitations []mapdata.Invitation // open ones; for the owner alone
}

// People lists the accounts that manage a feed, for its owner and its maintainers. It fails with mapdata.ErrNotFound for others.
func (s *Service) People(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) (*People, error) {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	if !manages(by, f) {
		return nil, mapdata.ErrNotFound
	}
	view := s.View(f, 0, true)
	p := &People{View: &view, Owns: by.Account() == f.Owner}
	if p.Maintainers, err = s.Store.Maintainers(ctx, id); err != nil {
		return nil, fmt.Errorf("list maintainers: %w", err)
	}
	if p.Owns {
		if p.Invitations, err = s.Store.InvitationsOf(ctx, id, s.now()); err != nil {
			return nil, fmt.Errorf("list invitations: %w", err)
		}
	}
	return p, nil
}

// Invitations lists the open invitations to the actor's e-mail address, oldest first.
func (s *Service) Invitations(ctx context.Context, by mapdata.Actor) ([]mapdata.Invitation, error) {
	if by.Email() == "" {
		return nil, mapdata.ErrForbidden
	}
	all, err := s.Store.InvitationsTo(ctx, by.Email(), s.now())
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	return all, nil
}

// CheckOwns fails as Invite does for an actor who may not invite, before the rest of an invitation is checked.
func (s *Service) CheckOwns(ctx context.Context, by mapdata.Actor, id mapdata.FeedID) error {
	f, err := s.Store.Feed(ctx, id)
	if err != nil {
		return fmt.Errorf("read feed: %w", err)
	}
	return checkOwns(by, f)
}

// Invite asks the holder of an e-mail address to maintain one of the actor's own feeds or to take it over. The address gets an e-mail, in
// the language of the request where it has no account. The result is the same whether it has one. It fails with a *mapdata.InvalidError for
// the address, with mapdata.ErrNotFound, mapdata.ErrForbidden for a maintainer, mapdata.ErrConflict where there are too many or the same
// one, and with a *mapdata.LimitError.
func (s *Service) Invite(
	ctx context.Context, by mapdata.Actor, id mapdata.FeedID, what mapdata.InvitedTo, email string, language mapdata.Language,
) (*mapdata.Invitation, error) {
	address, err := mapdata.ParseEmail(email)
	if err != nil {
		return nil, err
	}
	if address == by.Email() {
		return nil, mapdata.Explain(mapdata.ErrConflict, "own_address", "This is your own address.")
	}
	now := s.now()
	i := &mapdata.Invitation{
		ID: strings.ToLower(rand.Text()), Feed: id, What: what, Email: address, By: by.Account(), ByEmail: by.Email(),
		At: now, ExpiresAt: now.Add(mapdata.InvitationLifetime),
	}
	maintainers, err := s.Store.Maintainers(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list maintainers: %w", err)
	}
	err = s.Store.Invite(ctx, i, func(f *mapdata.Feed) (Side, error) {
		if err := checkOwns(by, f); err != nil {
			return Side{}, err
		}
		if what == mapdata.InvitedToMaintain {
			if slices.ContainsFunc(maintainers, func(m mapdata.Maintainer) bool { return m.Email == address }) {
				return Side{}, mapdata.Explain(mapdata.ErrConflict, "maintains_already", "The holder of this address maintains the feed already.")
			}
			if err := checkRoom(f); err != nil {
				return Side{}, err
			}
		}
		i.FeedName = f.Name
		kind := mapdata.EmailInvited
		if what == mapdata.InvitedToTransfer {
			kind = mapdata.EmailOffered
		}
		email := emailAbout(by, f, kind, now)
		email.Address, email.Language = address, language
		return Side{
			Audit:  []mapdata.AuditEntry{auditEntry(ctx, by, now, mapdata.AuditFeedInvite, f, string(what))},
			Emails: []mapdata.Email{email},
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("invite: %w", err)
	}
	s.changed(ctx)
	return i, nil
}

func checkRoom(f *mapdata.Feed) error {
	if len(f.Maintainers) >= mapdata.MaxMaintainers {
		return mapdata.Explain(mapdata.ErrConflict, "too_many_maintainers",
			fmt.Sprintf("A feed has at most %d maintainers. Remove one first.", mapdata.MaxMaintainers))
	}
	return nil
}

// emailAbout returns an e-mail about a feed that names the actor. Its recipient is still missing.
func emailAbout(by mapdata.Actor, f *mapdata.Feed, kind mapdata.EmailKind, at time.Time) mapdata.Email {
	return mapdata.Email{Kind: kind, At: at, Due: at, Data: map[string]string{
		"feed_name": f.Name, "feed_id": f.ID.String(), "who": by.Email(), mapdata.EmailWhoID: by.Account().String(),
	}}
}

// Accept accepts an invitation to the actor's address: the actor becomes a maintainer, or the owner of the feed with its usage. Its
// maintainers stay, the previous owner does not. Push token and auth header stay valid, so that nothing breaks. It fails with
// mapdata.ErrNotFound for an invitation that is not open or not the actor's, and with mapdata.ErrConflict where the feed has too many
// maintainers, the actor would exceed an account's limits (D5.9, D5.10), or the owner is suspended.
func (s *Service) Accept(ctx context.Context, by mapdata.Actor, id string) (*View, error) {
	now := s.now()
	limits := mapdata.ReceiverLimits{Feeds: s.limit(), Bytes: s.Storage.OfAccount()}
	f, err := s.Store.AnswerInvitation(ctx, id, now, limits, func(f *mapdata.Feed, i *mapdata.Invitation) (Side, error) {
		switch {
		case by.Email() == "" || by.Email() != i.Email:
			return Side{}, mapdata.ErrNotFound
		case f.Pause.By == mapdata.PausedBySuspension:
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "owner_suspended", "The account of the feed's owner is suspended.")
		case f.Owner == by.Account():
			return Side{}, mapdata.Explain(mapdata.ErrConflict, "own_feed_already", "This feed is your own already.")
		}
		f.UpdatedAt = now
		if i.What == mapdata.InvitedToTransfer {
			return receive(ctx, by, f, now), nil
		}
		return join(ctx, by, f, now)
	})
	if err != nil {
		return nil, fmt.Errorf("accept invitation: %w", err)
	}
	s.changed(ctx)
	return s.full(ctx, by, f)
}

// receive makes the actor the feed's owner.
func receive(ctx context.Context, by mapdata.Actor, f *mapdata.Feed, now time.Time) Side {
	entry := auditEntry(ctx, by, now, mapdata.AuditFeedTransfer, f, "")
	away, received := emailAbout(by, f, mapdata.EmailTransferred, now), emailAbout(by, f, mapdata.EmailReceived, now)
	away.Account, received.Account = f.Owner, by.Account()
	f.Maintainers = without(f.Maintainers, by.Account())
	f.Owner = by.Account()
	return Side{Audit: []mapdata.AuditEntry{entry}, Emails: []mapdata.Email{away, received}}
}

// join makes the actor a maintainer of the feed.
func join(ctx context.Context, by mapdata.Actor, f *mapdata.Feed, now time.Time) (Side, error) {
	if manages(by, f) {
		return Side{}, nil
	}
	if err := checkRoom(f); err != nil {
		return Side{}, err
	}
	f.Maintainers = append(slices.Clone(f.Maintainers), by.Account())
	email := emailAbout(by, f, mapdata.EmailMaintainerJoined, now)
	email.Account = f.Owner
	return Side{
		Audit:  []mapdata.AuditEntry{auditEntry(ctx, by, now, mapdata.AuditMaintainerJoin, f, "")},
		Emails: []mapdata.Email{email},
	}, nil
}

func without(all []mapdata.AccountID, one mapdata.AccountID) []mapdata.AccountID {
	return slices.DeleteFunc(slices.Clone(all), func(id mapdata.AccountID) bool { return id == one })
}

// CloseInvitation declines an invitation to the actor's address, or withdraws one to a feed of the actor's own. It fails with
// mapdata.ErrNotFound for one that is not open, or neither.
func (s *Service) CloseInvitation(ctx context.Context, by mapdata.Actor, id string) (mapdata.FeedID, error) {
	now := s.now()
	f, err := s.Store.AnswerInvitation(ctx, id, now, mapdata.ReceiverLimits{}, func(f *mapdata.Feed, i *mapdata.Invitation) (Side, error) {
		if by.Account().IsZero() || by.Email() != i.Email && by.Account() != f.Owner {
			return Side{}, mapdata.ErrNotFound
		}
		return Side{Audit: []mapdata.AuditEntry{auditEntry(ctx, by, now, mapdata.AuditFeedUninvite, f, string(i.What))}}, nil
	})
	if err != nil {
		return mapdata.FeedID{}, fmt.Errorf("close invitation: %w", err)
	}
	return f.ID, nil
}

// EndMaintainer ends an account's role in a feed: the owner removes a maintainer, or a maintainer leaves. The other one gets an e-mail. It
// fails with mapdata.ErrNotFound where the account maintains no such feed, and with mapdata.ErrForbidden for a maintainer who tries to
// remove another.
func (s *Service) EndMaintainer(ctx context.Context, by mapdata.Actor, id mapdata.FeedID, account mapdata.AccountID) error {
	now := s.now()
	_, err := s.Store.UpdateFeed(ctx, id, func(f *mapdata.Feed) (Side, error) {
		leaves := by.Account() == account
		if !leaves {
			if err := checkOwns(by, f); err != nil {
				return Side{}, err
			}
		}
		if account.IsZero() || !slices.Contains(f.Maintainers, account) {
			return Side{}, mapdata.ErrNotFound
		}
		f.Maintainers, f.UpdatedAt = without(f.Maintainers, account), now
		email, note := emailAbout(by, f, mapdata.EmailMaintainerRemoved, now), "removed"
		email.Account = account
		if leaves {
			email, note = emailAbout(by, f, mapdata.EmailMaintainerLeft, now), "left"
			email.Account = f.Owner
		}
		return Side{
			Audit: []mapdata.AuditEntry{auditEntry(ctx, by, now, mapdata.AuditMaintainerEnd, f, note)}, Emails: []mapdata.Email{email},
		}, nil
	})
	if err != nil {
		return fmt.Errorf("end maintainer: %w", err)
	}
	s.changed(ctx)
	return nil
}
