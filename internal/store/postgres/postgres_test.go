package postgres_test

import (
	"testing"

	"wayside/internal/store/postgres"
	"wayside/internal/store/storetest"
	"wayside/internal/throwaway"
)

var _ storetest.Store = (*postgres.DB)(nil)

func TestContract(t *testing.T) {
	server := throwaway.Postgres(t, throwaway.Unsynced())
	storetest.Run(t, func(t *testing.T) func(*testing.T) storetest.Store {
		url := server.Database(t)
		return func(t *testing.T) storetest.Store {
			t.Helper()
			db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			return db
		}
	})
}
