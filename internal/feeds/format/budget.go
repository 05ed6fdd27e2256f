package format

import "context"

// Bounds of the cost of one conversion, whatever its document contains (D17.16).
const (
	// MaxWork is the largest amount of work that a document may cause. Work is counted, in the nanoseconds that an
	// ordinary processor was measured to take for each step, so that the same document is accepted or refused on every
	// machine. An honest document of 256 MiB of JSON takes a third of it, one of XML nearly all.
	MaxWork = 7_000_000_000
	// MaxItemHeld is the number of bytes that one item may hold: its text, at most MaxItemBytes, and as much again for
	// its tree.
	MaxItemHeld = 2 * MaxItemBytes
	// MaxKept is the number of bytes of a document that may be kept between its items: statuses of charging points,
	// members of relations.
	MaxKept = 64 << 20

	lookEvery = 1_000_000 // work between two checks of the context: a millisecond
)

// Budget bounds the cost of one conversion: work, bytes held, and the time that its caller waits. Readers and bridges
// count each step that depends on a document's text before they take it. Once the budget is spent, readers fail and
// lookups in items find nothing more, so that a loop over an item ends; Err returns the reason, and the whole document
// is refused. A nil Budget bounds nothing.
//
// A Budget is for one conversion and one goroutine.
type Budget struct {
	ctx  context.Context
	most int64 // work
	work int64 // so far
	next int64 // work at which the context is checked again
	held int64 // by the current item
	kept int64 // until the document's end
	err  error
}

// NewBudget returns the budget of one document with all its pages, converted for as long as ctx lasts. work is MaxWork
// or less.
func NewBudget(ctx context.Context, work int64) *Budget {
	return &Budget{ctx: ctx, most: min(work, MaxWork)}
}

// Spend counts work, in nanoseconds, and reports whether there is budget left for it.
func (b *Budget) Spend(work int) bool {
	if b == nil {
		return true
	}
	b.work += int64(work)
	return b.work < b.next || b.look()
}

// look compares the work with its bound, and checks the context.
func (b *Budget) look() bool {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err == nil && b.work > b.most {
		b.err = &Error{Fault: TooMany}
	}
	if b.err != nil {
		b.next = 0 // from now on each step checks the context
		return false
	}
	b.next = min(b.work+lookEvery, b.most+1)
	return true
}

// NextItem releases the bytes that the previous item held.
func (b *Budget) NextItem() {
	if b != nil {
		b.held = 0
	}
}

// Hold counts bytes that the current item holds, and reports whether the item may hold them.
func (b *Budget) Hold(bytes int) bool {
	if b == nil {
		return true
	}
	if b.held += int64(bytes); b.held > MaxItemHeld && b.err == nil {
		b.err, b.next = &Error{Fault: TooLarge}, 0
	}
	return b.err == nil
}

// Room returns how many bytes more the current item may hold.
func (b *Budget) Room() int {
	if b == nil {
		return MaxItemHeld
	}
	return int(max(0, MaxItemHeld-b.held))
}

// Keep counts bytes that are kept until the end of the document, and reports whether they may be kept.
func (b *Budget) Keep(bytes int) bool {
	if b == nil {
		return true
	}
	if b.kept += int64(bytes); b.kept > MaxKept && b.err == nil {
		b.err, b.next = &Error{Fault: TooMany}, 0
	}
	return b.err == nil
}

// Err returns why the budget is spent: an *Error without a place, or the context's error. It returns nil while budget
// is left.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	return b.err
}

// Spent returns the counted work of all items, and the bytes that the current item and the document hold.
func (b *Budget) Spent() (work, held int64) { return b.work, b.held + b.kept }
