package storetest

import (
	"wayside/internal/ground/mapdata"
)

func noticeTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"a notice goes once to each owner of feeds": notifiesOnce,
		"a dry run of a notice only counts":         countsNotices,
	}
}

func (w *testStore) notify(n *mapdata.Notice, dryRun bool, owners, queued int) {
	w.Helper()
	got, err := w.store.NotifyOwners(w.ctx, n, dryRun)
	w.must(err)
	w.same("result of a notice", got, mapdata.NoticeResult{Owners: owners, Queued: queued})
}

func notifiesOnce(w *testStore) {
	first, second := w.account(), w.account()
	w.account() // has no feed
	w.pushFeed(first)
	w.pushFeed(first)
	w.pushFeed(second)
	n := &mapdata.Notice{Subject: "Change", Text: "Of fields", At: start}
	w.notify(n, false, 2, 2)
	addresses := map[string]bool{}
	for _, l := range w.due(at(noticeSpread), at(2*noticeSpread)) {
		addresses[l.Address] = true
		w.same("kind and data", []any{l.Kind, l.Data}, []any{mapdata.EmailNotice, map[string]string{"subject": "Change", "notice": "Of fields"}})
	}
	w.same("addresses", addresses, map[string]bool{first.Email: true, second.Email: true})
	w.notify(n, false, 2, 0)
	third := w.account()
	w.pushFeed(third)
	w.notify(n, false, 3, 1)
	w.notify(&mapdata.Notice{Subject: "Change", Text: "Of other fields", At: start}, false, 3, 3)
	records, err := w.store.Audit(w.ctx, &mapdata.AuditQuery{Subject: third.ID.String(), Limit: 10})
	w.must(err)
	if len(records) != 2 || records[0].Action != mapdata.AuditAccountNotice {
		w.Errorf("the audit log has %+v", records)
	}
}

func countsNotices(w *testStore) {
	w.pushFeed(w.account())
	n := &mapdata.Notice{Subject: "Change", Text: "Of fields", At: start}
	w.notify(n, true, 1, 1)
	w.notify(n, true, 1, 1)
	if got := w.due(at(noticeSpread), at(2*noticeSpread)); len(got) != 0 {
		w.Errorf("a dry run queued %+v", got)
	}
}

// noticeSpread is more than the time over which a few e-mails are spread.
const noticeSpread = 10e9
