package service

import (
	"context"
	"errors"
	"fmt"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/secret"
	"wayside/internal/run/datadir"
	"wayside/internal/store"
)

// sealing lists the methods of a store that replacing the key needs.
type sealing interface {
	AnySealed(ctx context.Context) (*store.SealedHeader, error)
	Reseal(ctx context.Context, reseal func(store.SealedHeader) ([]byte, error), audit mapdata.AuditEntry) (int, error)
	ResealSavedPlaces(ctx context.Context, reseal func(account mapdata.AccountID, sealed []byte) ([]byte, error)) error
}

// Rotated is the result of RotateKey.
type Rotated struct {
	Resealed int // auth headers, and configs of apps
	Removed  int // those that no key opened
}

// RotateKey replaces the secret key of a data directory that no service uses, and seals all auth headers and saved places with the
// new key. The new key is durable before the headers are sealed with it, in one transaction, and then replaces the old one. If
// RotateKey is interrupted, another call completes it, and no service starts before. RotateKey fails if the old key does not open a
// header, unless lost is set, which drops such headers. It drops places that the old key does not open, because nothing can read
// them.
func RotateKey(ctx context.Context, o AdminOptions, lost bool) (_ Rotated, err error) {
	file := datadir.DatabaseFile
	if o.Config.Database.URL != "" {
		file = "" // the key may be lost
	}
	if err := datadir.Require(o.Config.DataDir, file); err != nil {
		return Rotated{}, err
	}
	release, err := datadir.Lock(o.Config.DataDir)
	if err != nil {
		return Rotated{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	current, next, resumed, err := datadir.BeginRotation(o.Config.DataDir)
	if err != nil {
		return Rotated{}, err
	}
	unused := !resumed // so far nothing is sealed with the new key
	defer func() {
		if err != nil && unused {
			err = errors.Join(err, datadir.DropRotation(o.Config.DataDir))
		}
	}()
	boxes, err := boxesOf(headersUse, next, current)
	if err != nil {
		return Rotated{}, err
	}
	places, err := boxesOf(placesUse, next, current)
	if err != nil {
		return Rotated{}, err
	}
	db, err := openStore(ctx, o)
	if err != nil {
		return Rotated{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var done Rotated
	reseal := func(h store.SealedHeader) ([]byte, error) {
		plain, err := openHeader(boxes, &h)
		switch {
		case err == nil:
			done.Resealed++
			return sealWith(boxes[0], plain, &h), nil
		case lost:
			done.Removed++
			return nil, nil
		}
		what := "the auth header of feed " + h.Feed.String()
		if h.Feed.IsZero() {
			what = "what an account set of app " + h.App.String()
		}
		return nil, fmt.Errorf("the secret key does not open %s: put the right one into the data directory, "+
			"or remove what it does not open with --lost: %w", what, err)
	}
	audit := mapdata.AuditEntry{At: o.Now().UTC(), Via: mapdata.ViaOf(ctx), Action: mapdata.AuditKeyRotate}
	if _, err := db.Reseal(ctx, reseal, audit); err != nil {
		unused = !resumed && errors.Is(err, secret.ErrSealed) // otherwise the transaction may be committed
		return Rotated{}, err
	}
	unused = false
	err = db.ResealSavedPlaces(ctx, func(account mapdata.AccountID, sealed []byte) ([]byte, error) {
		plain, err := openWith(places, func(box *secret.Box) ([]byte, error) { return box.Open(sealed, account) })
		if err != nil {
			return nil, nil //nolint:nilerr // no key opens them
		}
		return places[0].Seal(plain, account), nil
	})
	if err != nil {
		return Rotated{}, err
	}
	return done, datadir.EndRotation(o.Config.DataDir)
}

// boxesOf makes the boxes for one use of some secret keys; nil ones are left out.
func boxesOf(use string, keys ...[]byte) ([]*secret.Box, error) {
	var boxes []*secret.Box
	for _, key := range keys {
		if key == nil {
			continue
		}
		derived, err := datadir.DeriveKey(key, use)
		if err != nil {
			return nil, err
		}
		box, err := secret.New(derived)
		if err != nil {
			return nil, err
		}
		boxes = append(boxes, box)
	}
	return boxes, nil
}

// openWith tries one key after the other.
func openWith(boxes []*secret.Box, open func(*secret.Box) ([]byte, error)) (plain []byte, err error) {
	for _, box := range boxes {
		if plain, err = open(box); err == nil {
			return plain, nil
		}
	}
	return nil, err
}

func openHeader(boxes []*secret.Box, h *store.SealedHeader) ([]byte, error) {
	return openWith(boxes, func(box *secret.Box) ([]byte, error) {
		if h.Feed.IsZero() {
			return box.OpenConfig(h.Text, h.Account, h.App)
		}
		return box.Open(h.Text, h.Feed)
	})
}

func sealWith(box *secret.Box, plain []byte, h *store.SealedHeader) []byte {
	if h.Feed.IsZero() {
		return box.SealConfig(plain, h.Account, h.App)
	}
	return box.Seal(plain, h.Feed)
}

// checkKey fails if the database holds auth headers that the data directory's key does not open. If the key is missing in that
// case, it makes none, because the headers would be lost.
func checkKey(ctx context.Context, o AdminOptions, db sealing) error {
	header, err := db.AnySealed(ctx)
	if err != nil || header == nil {
		return err
	}
	if !datadir.HasKey(o.Config.DataDir) {
		return fmt.Errorf("%s is missing in %s, and auth headers of feeds or settings of apps are sealed with it: put it back from where you keep it; "+
			"if it is lost, wayside key rotate --lost removes them", datadir.KeyFile, o.Config.DataDir)
	}
	key, err := datadir.SecretKey(o.Config.DataDir)
	if err != nil {
		return err
	}
	boxes, err := boxesOf(headersUse, key)
	if err != nil {
		return err
	}
	if _, err := openHeader(boxes, header); err != nil {
		return fmt.Errorf("%s in %s is not the key that the database's auth headers and settings of apps are sealed with: put that back; "+
			"if it is lost, wayside key rotate --lost removes them", datadir.KeyFile, o.Config.DataDir)
	}
	return nil
}
