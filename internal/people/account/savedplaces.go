package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"wayside/internal/ground/mapdata"
)

// maxRecent is the number of recent destinations of an account besides home and work. All of them take at most some 20 KiB.
const maxRecent = 10

// SavedPlaces are the places that a driver chose to save in the account: home, work, and the last destinations, the latest first.
type SavedPlaces struct {
	Home   *Destination
	Work   *Destination
	Recent []Destination
}

// SavedPlaces returns the account's saved places, or nil if the driver does not save any. Places that were sealed with a lost key count as
// none, because the driver's browser has them too.
func (s *Service) SavedPlaces(ctx context.Context, id mapdata.AccountID) (*SavedPlaces, error) {
	sealed, err := s.store.SavedPlaces(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read saved places: %w", err)
	}
	if sealed == nil {
		return nil, nil //nolint:nilnil // absence is not an error
	}
	plain, err := s.places.Open(sealed, id)
	if err != nil {
		s.log.WarnContext(ctx, "places of an account cannot be opened with the key of this data directory", "error", err)
		return nil, nil //nolint:nilnil // as above
	}
	places := &SavedPlaces{}
	if err := json.Unmarshal(plain, places); err != nil {
		return nil, fmt.Errorf("read saved places: %w", err)
	}
	return places, nil
}

// SetSavedPlaces replaces the places of the account. It fails with a mapdata.InvalidError that lists every invalid field.
func (s *Service) SetSavedPlaces(ctx context.Context, id mapdata.AccountID, p *SavedPlaces) error {
	if err := CheckSavedPlaces(p); err != nil {
		return err
	}
	plain, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode saved places: %w", err)
	}
	if err := s.store.SetSavedPlaces(ctx, id, s.places.Seal(plain, id)); err != nil {
		return fmt.Errorf("store saved places: %w", err)
	}
	return nil
}

// ChangeSavedPlaces replaces the places of the account as a paired screen may (D11.3): it may add and change any, and remove one, but not
// several at a time and not the last one, since a rented car may stay paired for months. Otherwise it fails with mapdata.ErrSignInRequired.
func (s *Service) ChangeSavedPlaces(ctx context.Context, id mapdata.AccountID, p *SavedPlaces) error {
	before, err := s.SavedPlaces(ctx, id)
	if err != nil {
		return err
	}
	if before != nil {
		kept, removed := before.all(), before.missingIn(p)
		if removed > 1 || len(kept) > 0 && len(p.all()) == 0 {
			return mapdata.Describe(mapdata.ErrSignInRequired,
				"A paired screen removes one saved place at a time, and not the last one. Sign in with your e-mail address or a passkey to remove all.")
		}
	}
	return s.SetSavedPlaces(ctx, id, p)
}

// all returns all places, whatever their purpose.
func (p *SavedPlaces) all() []Destination {
	all := slices.Clone(p.Recent)
	for _, one := range []*Destination{p.Home, p.Work} {
		if one != nil {
			all = append(all, *one)
		}
	}
	return all
}

// missingIn counts the places that after lacks. Places are compared by position only, so that another name is a change.
func (p *SavedPlaces) missingIn(after *SavedPlaces) (n int) {
	left := after.all()
	for _, one := range p.all() {
		if !slices.ContainsFunc(left, func(d Destination) bool { return d.Lat == one.Lat && d.Lng == one.Lng }) {
			n++
		}
	}
	return n
}

// DeleteSavedPlaces deletes the places of the account, and stops saving them.
func (s *Service) DeleteSavedPlaces(ctx context.Context, id mapdata.AccountID) error {
	if err := s.store.DeleteSavedPlaces(ctx, id); err != nil {
		return fmt.Errorf("delete saved places: %w", err)
	}
	return nil
}

// CheckSavedPlaces validates places. Its mapdata.InvalidError lists every invalid field.
func CheckSavedPlaces(p *SavedPlaces) error {
	c := fieldErrors{}
	if p.Home != nil {
		c.destination("home.", p.Home)
	}
	if p.Work != nil {
		c.destination("work.", p.Work)
	}
	if len(p.Recent) > maxRecent {
		c.Add("recent", "too_many", "must not have more than "+strconv.Itoa(maxRecent))
		return c.Err()
	}
	for i := range p.Recent {
		c.destination("recent["+strconv.Itoa(i)+"].", &p.Recent[i])
	}
	return c.Err()
}
