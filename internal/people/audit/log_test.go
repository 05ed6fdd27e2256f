package audit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/audit"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func TestRead(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	accounts := map[mapdata.Role]*mapdata.Account{}
	for _, role := range []mapdata.Role{mapdata.Driver, mapdata.Curator, mapdata.Admin} {
		id, err := mapdata.NewAccountID()
		if err != nil {
			t.Fatal(err)
		}
		accounts[role] = &mapdata.Account{ID: id, Email: string(role) + "@example.com", Role: role, Tier: mapdata.TierAccount, CreatedAt: start}
		if err := db.CreateAccount(t.Context(), accounts[role]); err != nil {
			t.Fatal(err)
		}
	}
	feed := accounts[mapdata.Driver].ID.String() // any id
	write := func(n int, e mapdata.AuditEntry) {
		e.At = start
		for range n {
			if err := db.UpdateAccount(t.Context(), accounts[mapdata.Driver], e); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(3, mapdata.AuditEntry{Actor: accounts[mapdata.Driver].ID, Action: mapdata.AuditTokenCreate, Subject: "x"})
	write(audit.PageLength+2, mapdata.AuditEntry{Actor: accounts[mapdata.Curator].ID, Action: mapdata.AuditFeedReject, Subject: feed})
	write(1, mapdata.AuditEntry{Action: mapdata.AuditFeedDeactivate, Subject: "y"})
	log := audit.New(db)
	read := func(role mapdata.Role, f audit.Filter) (counts map[string]int, next int64) {
		t.Helper()
		counts = map[string]int{}
		page, err := log.Read(t.Context(), accounts[role], f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			counts[r.Action]++
		}
		return counts, page.Next
	}
	for name, tt := range map[string]struct {
		role mapdata.Role
		f    audit.Filter
		want map[string]int
		more bool
	}{
		"curator":                 {mapdata.Curator, audit.Filter{}, map[string]int{mapdata.AuditFeedReject: 50}, true},
		"admin":                   {mapdata.Admin, audit.Filter{}, map[string]int{mapdata.AuditFeedReject: 49, mapdata.AuditFeedDeactivate: 1}, true},
		"of a feed":               {mapdata.Admin, audit.Filter{Feed: feed}, map[string]int{mapdata.AuditFeedReject: 50}, true},
		"of an address":           {mapdata.Admin, audit.Filter{Account: "driver@example.com", Feed: ""}, map[string]int{mapdata.AuditFeedReject: 50}, true},
		"of an id":                {mapdata.Admin, audit.Filter{Account: accounts[mapdata.Curator].ID.String()}, map[string]int{mapdata.AuditFeedReject: 50}, true},
		"curator, only decisions": {mapdata.Curator, audit.Filter{Account: "admin@example.com"}, map[string]int{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, next := read(tt.role, tt.f)
			if diff := cmp.Diff(tt.want, got); diff != "" || (next != 0) != tt.more {
				t.Errorf("next %d (-want +got):\n%s", next, diff)
			}
		})
	}
	_, next := read(mapdata.Admin, audit.Filter{})
	rest, next := read(mapdata.Admin, audit.Filter{Before: next})
	if diff := cmp.Diff(map[string]int{mapdata.AuditFeedReject: 3, mapdata.AuditTokenCreate: 3}, rest); diff != "" || next != 0 {
		t.Errorf("the rest, next %d (-want +got):\n%s", next, diff)
	}
	for _, who := range []*mapdata.Account{nil, accounts[mapdata.Driver]} {
		if _, err := log.Read(t.Context(), who, audit.Filter{}); !errors.Is(err, mapdata.ErrForbidden) {
			t.Errorf("%v: %v", who, err)
		}
	}
	var invalid *mapdata.InvalidError
	if _, err := log.Read(t.Context(), accounts[mapdata.Admin], audit.Filter{Feed: "' OR 1", Account: "unknown@example.com"}); !errors.As(err, &invalid) || len(invalid.Fields) != 2 {
		t.Errorf("invalid filter: %v", err)
	}
}
