package format

import "context"

// Bounds of what one conversion may cost, whatever its document says (D17.16).
const (
	// MaxWork is how much work a document may cause, in nanoseconds as an ordinary processor was measured to take for each step: counted,
	// so that the same document is accepted or refused on every machine. An honest document of 256 MiB of JSON takes a third of it, one of
	// XML nearly all.
	MaxWork = 7_000_000_000
	// MaxItemHeld is how many bytes one item may hold: its text, at most MaxItemBytes, and as much again for the tree made of it.
	MaxItemHeld = 2 * MaxItemBytes
	// MaxKept is how many bytes are kept of a document between its items: statuses of charging points, members of relations.
	MaxKept = 64 << 20

	lookEvery = 1_000_000 // work between two looks at the context: a millisecond
)

// Budget bounds what one conversion costs: work, bytes held, and the time that its caller waits. Readers and bridges count each step that
// a document's text decides on before they take it. Once the budget is spent, readers fail and lookups in items find nothing more, so that
// a loop over an item ends at once; Err says why, and the document is refused whole. A nil Budget bounds nothing.
//
// A Budget is for one conversion and one goroutine.
type Budget struct {
	ctx  context.Context
	most int64 // work
	work int64 // so far
	next int64 // work at which the context is looked at again
	held int64 // by the current item
	kept int64 // until the document's end
	err  error
}

// NewBudget makes the budget of one document with all its pages, converted for as long as ctx lasts. work is MaxWork, or less of it.
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

// look compares the work with its bound, and looks at the context.
func (b *Budget) look() bool {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err == nil && b.work > b.most {
		b.err = &Error{Fault: TooMany}
	}
	if b.err != nil {
		b.next = 0 // from now on each step is looked at
		return false
	}
	b.next = min(b.work+lookEvery, b.most+1)
	return true
}

// NextItem gives back what the item before held.
func (b *Budget) NextItem() {
	if b != nil {
		b.held = 0
	}
}

// Hold counts bytes that the current item holds, and reports whether it may.
func (b *Budget) Hold(bytes int) bool {
	if b == nil {
		return true
	}
	if b.held += int64(bytes); b.held > MaxItemHeld && b.err == nil {
		b.err, b.next = &Error{Fault: TooLarge}, 0
	}
	return b.err == nil
}

// Room is how many bytes more the current item may hold.
func (b *Budget) Room() int {
	if b == nil {
		return MaxItemHeld
	}
	return int(max(0, MaxItemHeld-b.held))
}

// Keep counts bytes that are kept until the end of the document, and reports whether they may be.
func (b *Budget) Keep(bytes int) bool {
	if b == nil {
		return true
	}
	if b.kept += int64(bytes); b.kept > MaxKept && b.err == nil {
		b.err, b.next = &Error{Fault: TooMany}, 0
	}
	return b.err == nil
}

// Err is why the budget is spent: an *Error without a place, or the context's error. It is nil while there is budget left.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	return b.err
}

// Spent tells how much work and how many bytes were counted: the work of all items, and what the current one and the document hold.
func (b *Budget) Spent() (work, held int64) { return b.work, b.held + b.kept }
