package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress reports the progress of work that takes longer than a second: as a bar on a terminal, otherwise as one line at its
// start and one at its end. Add and Set may be called from many goroutines.
type progress struct {
	w     io.Writer    // a terminal; nil: none
	say   func(string) // prints lines without a terminal
	what  string
	unit  string
	done  atomic.Int64
	total atomic.Int64 // 0: unknown
	begun time.Time
	timer *time.Timer

	mu   sync.Mutex
	bars *mpb.Progress // nil: not shown yet, or no terminal
	bar  *mpb.Bar
	said bool
}

// showAfter is the time after which progress is shown.
const showAfter = time.Second

// newProgress starts to report work such as "loading", in units such as "entities": on w if that is a terminal, and otherwise with
// say.
func newProgress(w io.Writer, say func(string), what, unit string) *progress {
	p := &progress{say: say, what: what, unit: unit, begun: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	p.timer = time.AfterFunc(showAfter, p.show)
	return p
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Add adds n to the work that is done.
func (p *progress) Add(n int) { p.Set(p.done.Add(int64(n)), p.total.Load()) }

// Set sets the work that is done, and the total.
func (p *progress) Set(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetTotal(total, false)
		p.bar.SetCurrent(done)
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = true
	if p.w == nil {
		p.say(p.what)
		return
	}
	p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(40))
	p.bar = p.bars.AddBar(p.total.Load(),
		mpb.PrependDecorators(decor.Name(p.what+" ")),
		mpb.AppendDecorators(decor.CurrentNoUnit("% d "+p.unit), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_GO)),
	)
	p.bar.SetCurrent(p.done.Load())
}

// Close ends the report. Without a terminal, it prints a summary of work that took longer than showAfter.
func (p *progress) Close() {
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetTotal(-1, true)
		p.bars.Wait()
	}
	if p.said && p.w == nil {
		p.say(fmt.Sprintf("%s: %d %s in %.1f s", p.what, p.done.Load(), p.unit, time.Since(p.begun).Seconds()))
	}
}
