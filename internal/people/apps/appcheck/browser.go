package appcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// endGrace is how long a browser may take to end after it was asked to.
const endGrace = 5 * time.Second

// names returns the names of Chromium and its relatives on PATH, and their paths on macOS.
func names() []string {
	return []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "brave-browser",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	}
}

// ErrNoBrowser is returned where no browser is found.
var ErrNoBrowser = errors.New("no Chromium or Chrome is on PATH: install one (on Debian: apt-get install chromium) or name its program with --browser")

// ErrWindows is returned on Windows, where programs do not inherit the files by which the browser is controlled.
var ErrWindows = errors.New("the check does not run on Windows: use the app bench, /apps/bench, or run it under WSL")

// Find returns the path of a browser: the given one, or the first that is on PATH.
func Find(given string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", ErrWindows
	}
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("--browser: %w", err)
		}
		return path, nil
	}
	for _, name := range names() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// browser is a running browser with a separate profile.
type browser struct {
	*connection
	command *exec.Cmd
	folder  string // of its profile
	stderr  *stderrTail
	pipes   []io.Closer // our ends
	ended   chan struct{}
}

// start starts a browser without a window. Events go to handle.
func start(path string, noSandbox bool, handle func(message)) (_ *browser, err error) {
	folder, err := os.MkdirTemp("", "wayside-app-check-")
	if err != nil {
		return nil, err
	}
	b := &browser{folder: folder, stderr: &stderrTail{}, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			b.closePipes()
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	b.pipes = []io.Closer{ourOut, ourIn}
	b.connection = newConnection(ourOut)
	b.command = exec.Command(path, arguments(folder, noSandbox)...) //nolint:noctx // close ends it, and kills it if need be
	b.command.Stderr = b.stderr
	b.command.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	err = b.command.Start()
	if closed := errors.Join(theirIn.Close(), theirOut.Close()); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	go func() { // ends with the browser, which close waits for
		defer close(b.ended)
		_ = b.read(ourIn, handle) // a waiting call returns the same error
	}()
	return b, nil
}

// arguments returns the browser's arguments: no window, not the developer's profile, no background requests. Frames of other sites
// run in separate processes, as in a car.
func arguments(folder string, noSandbox bool) []string {
	all := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + folder, "--site-per-process", "--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync", "--mute-audio",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-features=HttpsUpgrades,LocalNetworkAccessChecks,OptimizationHints,MediaRouter",
	}
	if noSandbox {
		all = append(all, "--no-sandbox")
	}
	return append(all, "about:blank")
}

// why adds the text that the browser printed before it ended to an error.
func (b *browser) why(err error) error {
	if !errors.Is(err, errBrowserEnded) {
		return err
	}
	text := b.stderr.String()
	if strings.Contains(text, "no-sandbox") {
		return fmt.Errorf("%w: it can't use its sandbox here, as root or in a container; where you trust the page, add --no-sandbox", err)
	}
	if text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, text)
}

// close ends the browser and removes its profile.
func (b *browser) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	_ = b.call(ctx, "", "Browser.close", nil, nil) // otherwise it is killed
	select {
	case <-b.ended:
	case <-ctx.Done():
	}
	b.closePipes()
	<-b.ended
	var exit *exec.ExitError
	timer := time.AfterFunc(endGrace, func() { _ = b.command.Process.Kill() }) // it may have ended
	err := b.command.Wait()
	timer.Stop()
	if errors.As(err, &exit) {
		err = nil // however it ended
	}
	return errors.Join(err, b.removeProfile())
}

// removeProfile removes the profile. Processes of the browser may write into it for a moment after it ended.
func (b *browser) removeProfile() (err error) {
	for range 20 {
		if err = os.RemoveAll(b.folder); err == nil {
			return nil
		}
		<-time.After(100 * time.Millisecond)
	}
	return fmt.Errorf("remove the browser's profile: %w", err)
}

func (b *browser) closePipes() {
	for _, p := range b.pipes {
		_ = p.Close() // twice at most
	}
}

// stderrTail keeps the end of what the browser prints.
type stderrTail struct {
	mu   sync.Mutex
	text []byte
}

const maxStderrTail = 4 << 10 // bytes

func (l *stderrTail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - maxStderrTail; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

// String returns the last line that is not blank.
func (l *stderrTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(l.text), []byte("\n"))
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}
