package account_test

import (
	"context"

	"wayside/internal/ground/mapdata"
)

// savedPlacesStore stores the sealed places of accounts.
type savedPlacesStore struct{ sealed map[mapdata.AccountID][]byte }

func (m *savedPlacesStore) SavedPlaces(_ context.Context, id mapdata.AccountID) ([]byte, error) {
	return m.sealed[id], nil
}

func (m *savedPlacesStore) SetSavedPlaces(_ context.Context, id mapdata.AccountID, sealed []byte) error {
	if m.sealed == nil {
		m.sealed = map[mapdata.AccountID][]byte{}
	}
	m.sealed[id] = sealed
	return nil
}

func (m *savedPlacesStore) DeleteSavedPlaces(_ context.Context, id mapdata.AccountID) error {
	delete(m.sealed, id)
	return nil
}
