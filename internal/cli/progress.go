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

// progress shows how far something is that takes longer than a second: as a bar at a terminal, as one line at the begin
// and one at the end elsewhere. Add and Set may be called from many goroutines.
type progress struct {
	w     io.Writer    // a terminal; nil: none
	say   func(string) // takes lines where there is no terminal
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

// showAfter is how long something may take in silence.
const showAfter = time.Second

// newProgress begins to watch something, such as "loading" and "entities". It is shown at w if that is a terminal, and
// told to say otherwise.
func newProgress(w io.Writer, say func(string), what, unit string) *progress {
	p := &progress{say: say, what: what, unit: unit, begun: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	p.timer = time.AfterFunc(showAfter, p.show)
	return p
}

// isTerminal says whether a person sees what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Add says that n more are done.
func (p *progress) Add(n int) { p.Set(p.done.Add(int64(n)), p.total.Load()) }

// Set says how many of how many are done.
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

// Close ends the watch. What took longer than a second is told of in one more line, where there is no terminal.
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
