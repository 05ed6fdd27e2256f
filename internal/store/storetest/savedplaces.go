package storetest

import (
	"bytes"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
)

func savedPlacesTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an account keeps no places at first":   startsWithoutPlaces,
		"places replace the earlier ones":       replacesPlaces,
		"places without an account are refused": refusesPlacesWithoutAccount,
		"deleted places are gone":               deletesPlaces,
		"all places are sealed anew":            resealsPlaces,
		"sealing anew goes on after a failure":  resumesResealing,
	}
}

func (w *testStore) wantPlaces(a *mapdata.Account, want []byte) {
	w.Helper()
	got, err := w.store.SavedPlaces(w.ctx, a.ID)
	w.must(err)
	w.same("places", got, want)
}

func startsWithoutPlaces(w *testStore) { w.wantPlaces(w.account(), nil) }

func replacesPlaces(w *testStore) {
	a, b := w.account(), w.account()
	w.must(w.store.SetSavedPlaces(w.ctx, a.ID, []byte{0, 255}))
	w.must(w.store.SetSavedPlaces(w.ctx, b.ID, []byte("another's")))
	w.must(w.store.SetSavedPlaces(w.ctx, a.ID, []byte("sealed")))
	w.wantPlaces(a, []byte("sealed"))
	w.wantPlaces(b, []byte("another's"))
}

func refusesPlacesWithoutAccount(w *testStore) {
	w.fails("places", w.store.SetSavedPlaces(w.ctx, mapdata.AccountID{1}, []byte("sealed")), mapdata.ErrNotFound)
}

func deletesPlaces(w *testStore) {
	a, b := w.account(), w.account()
	w.must(w.store.SetSavedPlaces(w.ctx, a.ID, []byte("sealed")))
	w.must(w.store.SetSavedPlaces(w.ctx, b.ID, []byte("another's")))
	w.must(w.store.DeleteSavedPlaces(w.ctx, a.ID))
	w.wantPlaces(a, nil)
	w.wantPlaces(b, []byte("another's"))
	w.must(w.store.DeleteSavedPlaces(w.ctx, a.ID)) // there are none
}

// resealsPlaces reseals more accounts than one transaction handles.
func resealsPlaces(w *testStore) {
	var all []*mapdata.Account
	for i := range 450 {
		a := w.account()
		all = append(all, a)
		w.must(w.store.SetSavedPlaces(w.ctx, a.ID, fmt.Append(nil, i)))
	}
	seen := map[mapdata.AccountID]int{}
	w.must(w.store.ResealSavedPlaces(w.ctx, func(id mapdata.AccountID, sealed []byte) ([]byte, error) {
		seen[id]++
		if string(sealed) == "7" {
			return nil, nil // undecryptable
		}
		return append([]byte("new "), sealed...), nil
	}))
	for i, a := range all {
		w.same("how often an account is sealed anew", seen[a.ID], 1)
		want := fmt.Append(nil, "new ", i)
		if i == 7 {
			want = nil
		}
		w.wantPlaces(a, want)
	}
}

func resumesResealing(w *testStore) {
	for range 2 {
		w.must(w.store.SetSavedPlaces(w.ctx, w.account().ID, []byte("old")))
	}
	broken, calls := errors.New("broken"), 0
	w.fails("sealing anew", w.store.ResealSavedPlaces(w.ctx, func(mapdata.AccountID, []byte) ([]byte, error) {
		if calls++; calls == 2 {
			return nil, broken
		}
		return []byte("new"), nil
	}), broken)
	w.must(w.store.ResealSavedPlaces(w.ctx, func(_ mapdata.AccountID, sealed []byte) ([]byte, error) {
		if !bytes.Equal(sealed, []byte("old")) {
			w.Errorf("half of a transaction that failed is stored: %q", sealed)
		}
		return []byte("new"), nil
	}))
}
