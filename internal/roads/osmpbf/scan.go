package osmpbf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Options control a scan.
type Options struct {
	Want    Types // types to decode; 0: all
	Workers int   // number of blocks decoded concurrently; 0: one for each processor
}

// Scan calls use with the wanted parts of the file, block after block in the order of the file, on the caller's
// goroutine, while other goroutines decode the next blocks. The first error ends the scan, and so does the context. An
// Error concerns the first faulty block, and comes after use was called for all blocks before it. The second and later
// scans know which blocks have wanted types, and read no others.
func (f *File) Scan(ctx context.Context, o Options, use func(*Block) error) error {
	var spare sync.Pool
	return scan(ctx, f, o, func(d *decoder) (*Block, error) {
		full := d.block
		var ok bool
		if d.block, ok = spare.Get().(*Block); !ok {
			d.block = new(Block)
		}
		return full, nil
	}, func(b *Block) error {
		err := use(b)
		spare.Put(b)
		return err
	})
}

// Map is like Scan, but the goroutines that decode do a part of the work: work is called with each block, concurrently,
// and use gets its results, in the order of the file, on the caller's goroutine. The result of work must not refer to
// the block's slices.
func Map[T any](ctx context.Context, f *File, o Options, work func(*Block) (T, error), use func(T) error) error {
	return scan(ctx, f, o, func(d *decoder) (T, error) { return work(d.block) }, use)
}

// job is one block on its way from the goroutine that reads it, through one that decodes it, to the caller.
type job[T any] struct {
	entry  entry
	blob   blob
	buffer []byte
	err    error // of reading; the block is not decoded then
	weight int64
	out    chan result[T] // closed by the worker when the block is done
}

// result is a part of a block, or an error.
type result[T any] struct {
	value T
	types Types // of the block, in its last result
	last  bool
	err   error
}

// Bounds of the memory of blocks that are being read, decoded or used, counted by their sizes as stored and inflated.
// Usual blocks are far smaller than a worker's share; a hostile file gets no more.
const (
	minMemory    = 3 * maxBlob // the memory of one block of the largest size
	workerMemory = 16 << 20
)

// pipeline is a scan in progress.
type pipeline[T any] struct {
	file    *File
	want    Types
	finish  func(*decoder) (T, error) // makes the value to pass on from the decoder's block
	memory  *semaphore.Weighted
	buffers sync.Pool
	work    chan *job[T]
	order   chan *job[T] // the same jobs, in the order of the file
}

func scan[T any](ctx context.Context, f *File, o Options, finish func(*decoder) (T, error), use func(T) error) error {
	if o.Want == 0 {
		o.Want = all
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	p := &pipeline[T]{
		file: f, want: o.Want, finish: finish,
		memory: semaphore.NewWeighted(max(minMemory, int64(o.Workers)*workerMemory)),
		work:   make(chan *job[T], o.Workers), order: make(chan *job[T], 2*o.Workers),
	}
	inner, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { p.read(inner) })
	for range o.Workers {
		running.Go(func() { p.decode(inner) })
	}
	return p.consume(ctx, use)
}

// read reads blocks and passes each to a worker and to the caller's queue, until the end of the file, the first error or
// the end of ctx.
func (p *pipeline[T]) read(ctx context.Context) {
	defer close(p.work)
	defer close(p.order)
	known := p.file.known.Load()
	offset := p.file.data
	for i := 0; ; i++ {
		j := &job[T]{out: make(chan result[T], 1)}
		switch {
		case known != nil && i == len(*known), known == nil && offset >= p.file.size:
			return
		case known != nil:
			j.entry = (*known)[i]
			if j.entry.types&p.want == 0 {
				continue
			}
		default:
			var kind string
			j.entry, kind, j.err = p.file.frame(offset)
			offset = j.entry.end()
			if j.err == nil && kind != dataType && kind != headerType {
				continue
			}
		}
		if !p.send(ctx, j) || j.err != nil {
			return
		}
	}
}

// send reads a block's data once there is memory for it, and passes it on. It returns false if ctx ended.
func (p *pipeline[T]) send(ctx context.Context, j *job[T]) bool {
	if j.err == nil {
		if !p.reserve(ctx, j, j.entry.size) {
			return false
		}
		j.buffer = p.buffer(j.entry.size)
		j.blob, j.err = p.file.read(j.entry, j.buffer)
		// Twice: once inflated, and at most once more as the strings of its table.
		if !p.reserve(ctx, j, 2*j.blob.size) {
			return false
		}
	}
	select {
	case p.order <- j:
	case <-ctx.Done():
		return false
	}
	select {
	case p.work <- j:
	case <-ctx.Done():
		return false
	}
	return true
}

func (p *pipeline[T]) reserve(ctx context.Context, j *job[T], bytes int) bool {
	if p.memory.Acquire(ctx, int64(bytes)) != nil {
		return false
	}
	j.weight += int64(bytes)
	return true
}

func (p *pipeline[T]) buffer(size int) []byte {
	if kept, ok := p.buffers.Get().(*[]byte); ok && cap(*kept) >= size {
		return (*kept)[:size]
	}
	return make([]byte, size)
}

// decode decodes blocks until the queue ends. Each worker runs it.
func (p *pipeline[T]) decode(ctx context.Context) {
	d := &decoder{want: p.want, block: new(Block)}
	defer d.close()
	for j := range p.work {
		p.decodeBlock(ctx, d, j)
		buffer := j.buffer
		j.buffer, j.blob = nil, blob{} // free the buffer for the next block, because the job may wait for the caller
		if cap(buffer) <= keptBuffer {
			p.buffers.Put(&buffer)
		}
		d.shrink()
		close(j.out)
	}
}

func (p *pipeline[T]) decodeBlock(ctx context.Context, d *decoder, j *job[T]) {
	say := func(r result[T]) error {
		select {
		case j.out <- r:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var stopped error // by the caller or by finish, not by a fault of the block
	d.emit = func() error {
		value, err := p.finish(d)
		if stopped = err; err == nil {
			stopped = say(result[T]{value: value})
		}
		return stopped
	}
	last := result[T]{last: true, err: j.err}
	if last.err == nil {
		last.types, last.err = d.inflateAndDecode(j.entry, j.blob)
		if last.err != nil && stopped == nil {
			last.err = &Error{j.entry.offset, last.err.Error()}
		}
	}
	_ = say(last) // fails only if the caller has left
}

// shrink releases buffers that only a very large block needs, because every worker would keep its own.
func (d *decoder) shrink() {
	if cap(d.buffer) > keptBuffer {
		d.buffer = nil
	}
	if cap(d.texts) > keptTexts {
		d.texts = nil
	}
	clear(d.texts)
}

func (d *decoder) inflateAndDecode(e entry, b blob) (Types, error) {
	message, err := d.inflate(b)
	if err != nil {
		return 0, err
	}
	if e.header {
		if _, err = parseHeader(message); err != nil {
			err = fmt.Errorf("header: %w", err)
		}
		return 0, err
	}
	return d.decode(e.offset, message)
}

// consume passes the results on in the order of the file, and keeps what was learned about the blocks when it reaches
// the end.
func (p *pipeline[T]) consume(ctx context.Context, use func(T) error) error {
	var learned []entry
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case j, more := <-p.order:
			if !more {
				if ctx.Err() == nil && p.file.known.Load() == nil {
					p.file.known.Store(&learned)
				}
				return ctx.Err()
			}
			if err := p.finishJob(ctx, j, use); err != nil {
				return err
			}
			learned = append(learned, j.entry)
		}
	}
}

func (p *pipeline[T]) finishJob(ctx context.Context, j *job[T], use func(T) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r, more := <-j.out:
			switch {
			case !more && ctx.Err() != nil: // a stopped worker closes the channel without a last result
				return ctx.Err()
			case !more:
				return errors.New("a block ended without a result")
			case r.last:
				j.entry.types = r.types
				p.memory.Release(j.weight)
				return r.err
			}
			if err := use(r.value); err != nil {
				return err
			}
		}
	}
}
