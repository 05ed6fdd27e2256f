package speech

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wayside/internal/proof/testenv"
)

// TestMain runs the test binary as the speech program if its arguments ask for it.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "speak" {
		speakAs(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// speakAs acts as a speech program with the given behaviour.
func speakAs(behaviour string, args []string) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(3)
	}
	switch behaviour {
	case "well":
		_, _ = os.Stdout.Write(testWave(bytes.Repeat(text, 100)))
	case "count": // args: a folder in which each run creates a file
		f, err := os.CreateTemp(args[0], "run-*")
		if err == nil {
			err = errors.Join(f.Close())
		}
		if err != nil {
			os.Exit(3)
		}
		_, _ = os.Stdout.Write(testWave(text))
	case "tell": // writes its arguments, environment and input as samples
		_, _ = os.Stdout.Write(testWave([]byte(strings.Join(args, " ") + "|" + strings.Join(os.Environ(), " ") + "|" + string(text))))
	case "forever":
		for {
			_, _ = os.Stdout.Write(make([]byte, 1<<16))
		}
	case "hang":
		<-time.After(time.Hour)
	case "fail":
		_, _ = os.Stderr.WriteString("no voice for " + string(text))
		os.Exit(7)
	case "page":
		_, _ = os.Stdout.WriteString("<script>alert(1)</script>")
	}
	os.Exit(0)
}

// testWave returns a WAV file as written by a program that cannot know its size.
func testWave(samples []byte) []byte {
	b := []byte("RIFF\xff\xff\xff\x7fWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	return append(append(b, "\x01\x00\x08\x00data\xff\xff\xff\x7f"...), samples...)
}

func newSpeaker(t *testing.T, behaviour string, args ...string) *Speaker {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{
		Command: append([]string{own, "speak", behaviour}, args...), Folder: filepath.Join(t.TempDir(), "speech"),
		Key: bytes.Repeat([]byte{1}, 32), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read reads the clip of an announcement.
func read(t *testing.T, s *Speaker, address string) (audio []byte, mediaType string, err error) {
	t.Helper()
	clip, err := s.Clip(t.Context(), address)
	if err != nil {
		return nil, "", err
	}
	audio, err = io.ReadAll(clip)
	return audio, clip.MediaType, errors.Join(err, clip.Close())
}

// TestProgram checks that the program gets the text on standard input, only the language in its arguments, and no
// variable of this process.
func TestProgram(t *testing.T) {
	t.Setenv("WAYSIDE_TEST_SECRET", "hunter2")
	s := newSpeaker(t, "tell", "-v", "{language}", "$(reboot)")
	audio, mediaType, err := read(t, s, s.Address("it", "Svoltare a destra; rm -rf \"$HOME\" `id`"))
	if err != nil || mediaType != "audio/wav" {
		t.Fatalf("%s, %v", mediaType, err)
	}
	told := string(audio[44:])
	if !strings.HasPrefix(told, "-v it $(reboot)|") || !strings.Contains(told, "|Svoltare a destra; rm -rf \"$HOME\" `id`\n") {
		t.Errorf("it was given %q", told)
	}
	if strings.Contains(told, "hunter2") {
		t.Errorf("it sees variables of this process: %q", told)
	}
}

// TestOnlyOwnTexts checks that only addresses made by the service are spoken, and that any other address is unknown and
// runs nothing.
func TestOnlyOwnTexts(t *testing.T) {
	runs := t.TempDir()
	s := newSpeaker(t, "count", runs)
	address := s.Address("en", "Turn left.")
	if address != s.Address("en", "Turn left.") || address == s.Address("de", "Turn left.") {
		t.Error("an address does not name one announcement in one language")
	}
	foreign := newSpeaker(t, "count", runs)
	foreign.Key = bytes.Repeat([]byte{2}, 32)
	foreign.addresses, _ = newAddresses(foreign.Key, foreign.Command)
	broken := []byte(address)
	broken[20] ^= 1
	for _, tt := range []string{
		"", "x", strings.Repeat("A", 40), strings.Repeat("A", 1<<20), string(broken), address + "A", address[:len(address)-1],
		foreign.Address("en", "Turn left."), "../../secret.key", newSpeaker(t, "well").Address("en", "Turn left."),
	} {
		if _, _, err := read(t, s, tt); !errors.Is(err, ErrUnknown) {
			t.Errorf("%.50q: %v", tt, err)
		}
	}
	if s.Address("en", strings.Repeat("a", 600)) == "" || s.Address("en", strings.Repeat("a", 601)) != "" || s.Address("en", "") != "" {
		t.Error("a text of 600 bytes has no address, or a longer one or none has one")
	}
	if entries, _ := os.ReadDir(runs); len(entries) > 0 {
		t.Errorf("%d programs ran", len(entries))
	}
}

// TestOnce checks that a text is spoken once, however many clients ask for it, also after a restart.
func TestOnce(t *testing.T) {
	runs := t.TempDir()
	s := newSpeaker(t, "count", runs)
	address := s.Address("en", "Turn left.")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if audio, _, err := read(t, s, address); err != nil || !bytes.HasSuffix(audio, []byte("Turn left.\n\x00")) {
				t.Errorf("%q, %v", audio, err)
			}
		})
	}
	wg.Wait()
	again, err := Open(s.Options)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, again, address); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if entries, _ := os.ReadDir(runs); len(entries) != 1 {
		t.Errorf("%d programs ran", len(entries))
	}
}

// TestFailures checks that the log of a failure does not contain the text, and that the text is not tried again for a
// minute.
func TestFailures(t *testing.T) {
	for behaviour, want := range map[string]string{
		"fail":    "it ended with exit status 7",
		"forever": "it wrote more than 4 MiB",
		"page":    "neither WAV nor Ogg nor MP3",
		"nothing": "it is empty",
	} {
		t.Run(behaviour, func(t *testing.T) {
			var log bytes.Buffer
			now := time.Now()
			s := newSpeaker(t, behaviour)
			s.Log, s.Now = slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now }
			address := s.Address("en", "Turn left onto Secret Street.")
			if _, _, err := read(t, s, address); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
			if !strings.Contains(log.String(), want) || strings.Contains(log.String(), "Secret") {
				t.Errorf("the log says %s", &log)
			}
			s.Command = []string{"/nowhere/speaks"}
			now = now.Add(59 * time.Second)
			if _, _, err := read(t, s, address); !errors.Is(err, ErrFailed) || strings.Contains(err.Error(), "nowhere") {
				t.Errorf("it was tried again at once: %v", err)
			}
			now = now.Add(time.Second)
			if _, _, err := read(t, s, address); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "nowhere") {
				t.Errorf("it was not tried again: %v", err)
			}
			if entries, _ := os.ReadDir(s.Folder); len(entries) > 0 {
				t.Errorf("something was kept: %v", entries)
			}
		})
	}
}

// TestFailuresAreBounded checks that at most 1024 failed texts are remembered.
func TestFailuresAreBounded(t *testing.T) {
	s := newSpeaker(t, "fail")
	for i := range 5000 {
		s.note(strconv.Itoa(i), ErrFailed, nil)
		if len(s.failures) > 1024 {
			t.Fatalf("%d failures are remembered", len(s.failures))
		}
	}
	if len(s.failures) == 0 {
		t.Error("the last failures are not remembered")
	}
}

// TestTimeout checks that a program that hangs is killed.
func TestTimeout(t *testing.T) {
	s := newSpeaker(t, "hang")
	watch := testenv.StartStopwatch()
	if _, _, err := read(t, s, s.Address("en", "Turn left.")); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "longer than 5s") {
		t.Errorf("%v", err)
	}
	if took := watch.Took(); took > 2*programTimeout {
		t.Errorf("it took %v", took)
	}
}

// TestCrowd checks that the number of waiting texts is bounded, and that a caller that leaves while waiting does not
// harm others that wait for the same text.
func TestCrowd(t *testing.T) {
	s := newSpeaker(t, "well")
	for range 2 {
		s.programs <- struct{}{} // all programs are busy
	}
	left, leave := context.WithCancel(t.Context())
	var leaders, followers sync.WaitGroup
	for i := range 32 {
		leaders.Go(func() {
			if _, err := s.Clip(left, s.Address("en", fmt.Sprint(i))); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
	}
	waiting := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.renderings)
	}
	for waiting() < 32 {
		runtime.Gosched()
	}
	if _, _, err := read(t, s, s.Address("en", "one too many")); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	followers.Go(func() {
		if _, _, err := read(t, s, s.Address("en", "0")); err != nil {
			t.Errorf("who stayed got %v", err)
		}
	})
	leave()
	leaders.Wait()
	for range 2 {
		<-s.programs
	}
	followers.Wait()
}

// TestFolderIsBounded checks that the least recently used clips are removed first, also after a restart, and that other
// files stay.
func TestFolderIsBounded(t *testing.T) {
	if most := newSpeaker(t, "count").clips.most; most != 256<<20 {
		t.Errorf("%d bytes of clips are kept, want 256 MiB (D15.25)", most)
	}
	now := time.Now() // files have the time of the system
	path := filepath.Join(t.TempDir(), "speech")
	const most = 3 * blockSize
	reopen := func() *folder {
		f, err := openFolder(path, most, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := reopen()
	name := func(i int) string { return fmt.Sprintf("%032x", i) }
	names := func() (have string) {
		entries, err := os.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			have += " " + strings.TrimLeft(e.Name(), "0")
		}
		return have
	}
	for i := 1; i <= 4; i++ {
		now = now.Add(2 * touchInterval)
		if err := f.keep(name(i), wave, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if file, _ := f.open(name(1)); file != nil {
			_ = file.Close()
		}
	}
	if got := names(); got != " 1.wav 3.wav 4.wav" {
		t.Errorf("kept%s", got)
	}
	for _, other := range []string{"README", temporary + "1"} {
		if err := os.WriteFile(filepath.Join(path, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f = reopen()
	if err := f.keep(name(5), ogg, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := names(); got != " 1.wav 4.wav 5.ogg README" {
		t.Errorf("after a restart kept%s", got)
	}
	if err := os.Remove(filepath.Join(path, name(4)+".wav")); err != nil {
		t.Fatal(err)
	}
	if file, _ := f.open(name(4)); file != nil || f.has(name(4)) {
		t.Error("a file that somebody removed is still offered")
	}
}
