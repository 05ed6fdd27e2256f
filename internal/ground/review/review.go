// Package review holds what curators' decisions on feeds, apps and pins have in common: who may decide, the note that an owner reads, and
// a decision that was made already.
package review

import (
	"context"
	"errors"

	"wayside/internal/ground/mapdata"
)

// MaxNote is the length of a curator's note to an owner, in characters.
const MaxNote = 2000

// CleanNote validates a curator's note, which the owner reads: 1 to MaxNote characters.
func CleanNote(text string) (string, error) {
	var e mapdata.FieldErrors
	text = e.Lines("note", text, 1, MaxNote)
	return text, e.Err()
}

// CheckCurator fails with mapdata.ErrForbidden and the refusal, which the caller reads, if the actor may not review.
func CheckCurator(by mapdata.Actor, refusal string) error {
	if by.MayReview() {
		return nil
	}
	return mapdata.Describe(mapdata.ErrForbidden, refusal)
}

// ErrDecided aborts the edit of Decide, because the same decision was made already.
var ErrDecided = errors.New("decided already")

// Decide stores a decision by update, a method of a store that calls edit within its transaction. It returns what was stored and true,
// or, where edit returned ErrDecided, what edit was given and false: deciding twice is no failure, and sends no second e-mail.
func Decide[ID, T any](
	ctx context.Context, update func(context.Context, ID, func(*T) (mapdata.Side, error)) (*T, error), id ID, edit func(*T) (mapdata.Side, error),
) (v *T, changed bool, err error) {
	var decided T
	v, err = update(ctx, id, func(v *T) (mapdata.Side, error) {
		side, err := edit(v)
		if errors.Is(err, ErrDecided) {
			decided = *v
		}
		return side, err
	})
	if errors.Is(err, ErrDecided) {
		return &decided, false, nil
	}
	return v, err == nil, err
}
