package accounts_test

import (
	"testing"
	"time"

	"wayside/internal/http/httpapi/httpapitest"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

func newRecordingStore(t testing.TB, now func() time.Time) *httpapitest.RecordingStore {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &httpapitest.RecordingStore{DB: db}
}
