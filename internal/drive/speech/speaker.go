package speech

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	maxPrograms   = 2  // at a time
	maxRenderings = 32 // texts that are being spoken or queued
	// failureMemory is how long a text is not tried again after a failure.
	failureMemory = time.Minute
	maxFailures   = 1024 // failed texts that are remembered
	nameLength    = 32   // of a file name without its extension
)

// Errors of Clip.
var (
	ErrUnknown = errors.New("no announcement has this address")
	ErrBusy    = errors.New("too many announcements wait to be spoken")
	ErrFailed  = errors.New("the announcement could not be spoken")
)

// errAgain ends a rendering without a result, because the caller that led it left before its turn, or the clip was
// stored before the rendering began.
var errAgain = errors.New("look again")

// Options configure a Speaker.
type Options struct {
	Command []string // the program and its arguments; {language} is replaced
	Folder  string   // where clips are kept
	Key     []byte   // secret, the same on each node
	Log     *slog.Logger
	Now     func() time.Time
}

// Speaker speaks announcements. It is safe for concurrent use.
type Speaker struct {
	Options
	addresses addresses
	clips     *folder
	programs  chan struct{} // a semaphore

	mu         sync.Mutex
	renderings map[string]*rendering
	failures   map[string]time.Time // the time until which a clip is not tried again
	broken     bool                 // the last program failed, and the failure was logged
}

// rendering is a clip that is being made.
type rendering struct {
	done   chan struct{} // closed when the other fields are set
	audio  []byte
	format format
	err    error
}

// Open returns a Speaker, and creates the folder of its clips if needed.
func Open(o Options) (*Speaker, error) {
	sealer, err := newAddresses(o.Key, o.Command)
	if err != nil {
		return nil, err
	}
	clips, err := openFolder(o.Folder, maxFolder, o.Now)
	if err != nil {
		return nil, fmt.Errorf("folder of clips: %w", err)
	}
	return &Speaker{
		Options: o, addresses: sealer, clips: clips, programs: make(chan struct{}, maxPrograms),
		renderings: make(map[string]*rendering), failures: make(map[string]time.Time),
	}, nil
}

// Address returns the last path element of the clip's address, or "" if the announcement cannot be spoken.
func (s *Speaker) Address(language, text string) string { return s.addresses.seal(language, text) }

// Clip is an announcement as sound.
type Clip struct {
	io.ReadSeekCloser
	MediaType string
}

// memoryClip is a clip read from memory.
type memoryClip struct{ *bytes.Reader }

func (memoryClip) Close() error { return nil }

// Clip returns the clip of an address, or ErrUnknown, ErrBusy or ErrFailed. The first caller runs the program;
// concurrent callers for the same address wait for it.
func (s *Speaker) Clip(ctx context.Context, address string) (Clip, error) {
	language, text, ok := s.addresses.open(address)
	if !ok {
		return Clip{}, ErrUnknown
	}
	sum := sha256.Sum256([]byte(address))
	name := hex.EncodeToString(sum[:])[:nameLength]
	for {
		if file, kind := s.clips.open(name); file != nil {
			return Clip{file, kind.mediaType}, nil
		}
		f, leads, err := s.join(name)
		if err != nil {
			return Clip{}, err
		}
		if leads {
			s.render(ctx, name, f, language, text)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return Clip{}, ctx.Err()
		}
		switch {
		case f.err == nil:
			return Clip{memoryClip{bytes.NewReader(f.audio)}, f.format.mediaType}, nil
		case ctx.Err() != nil:
			return Clip{}, ctx.Err()
		case !errors.Is(f.err, errAgain):
			return Clip{}, f.err
		}
	}
}

// join returns the rendering of a clip, and whether the caller must make the clip.
func (s *Speaker) join(name string) (f *rendering, leads bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, failed := s.failures[name]; failed {
		if s.Now().Before(until) {
			return nil, false, ErrFailed
		}
		delete(s.failures, name)
	}
	if f = s.renderings[name]; f != nil {
		return f, false, nil
	}
	if len(s.renderings) >= maxRenderings {
		return nil, false, ErrBusy
	}
	f = &rendering{done: make(chan struct{})}
	s.renderings[name] = f
	return f, true, nil
}

// render makes the clip, caches it and wakes all waiters.
func (s *Speaker) render(ctx context.Context, name string, f *rendering, language, text string) {
	select {
	case s.programs <- struct{}{}:
		if s.clips.has(name) {
			f.err = errAgain
		} else {
			f.audio, f.format, f.err = s.speak(context.WithoutCancel(ctx), language, text)
		}
		<-s.programs
	case <-ctx.Done():
		f.err = errAgain
	}
	var keeping error
	if f.err == nil {
		keeping = s.clips.keep(name, f.format, f.audio)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.renderings, name)
	if !errors.Is(f.err, errAgain) {
		s.note(name, f.err, keeping)
	}
	close(f.done)
}

// note remembers a failure, and logs when failures begin and end. The caller must hold s.mu.
func (s *Speaker) note(name string, failed, keeping error) {
	switch {
	case failed != nil:
		if len(s.failures) >= maxFailures {
			clear(s.failures)
		}
		s.failures[name] = s.Now().Add(failureMemory)
		if !s.broken {
			s.Log.Warn("an announcement was not spoken; wayside doctor tries speech.command", "error", failed)
		}
	case keeping != nil && !s.broken:
		s.Log.Warn("an announcement that was spoken is not kept", "error", keeping)
	case keeping == nil && s.broken:
		s.Log.Info("announcements are spoken again")
	}
	s.broken = failed != nil || keeping != nil
}

// speak runs the program and checks its output.
func (s *Speaker) speak(ctx context.Context, language, text string) ([]byte, format, error) {
	written, err := runProgram(ctx, s.Command, language, text)
	if err != nil {
		return nil, format{}, fmt.Errorf("%w: speech.command: %w", ErrFailed, err)
	}
	audio, kind, err := judge(written)
	if err != nil {
		return nil, format{}, fmt.Errorf("%w: what speech.command wrote is refused: %w", ErrFailed, err)
	}
	return audio, kind, nil
}

// Trial is the result of a trial sentence.
type Trial struct {
	MediaType string
	Bytes     int
}

// Try runs a program to speak a sentence in English, and discards the sound.
func Try(ctx context.Context, command []string) (Trial, error) {
	written, err := runProgram(ctx, command, "en", "In 200 meters, turn left.")
	if err != nil {
		return Trial{}, err
	}
	audio, kind, err := judge(written)
	return Trial{kind.mediaType, len(audio)}, err
}
