package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tile38Module is the module that is built if -tile38 names no program.
const tile38Module = "github.com/tidwall/tile38/cmd/tile38-server@v1.37.0"

// tile38 is a running tile38-server that holds the same points as the service.
type tile38 struct {
	addr string
	cmd  *exec.Cmd
}

// startTile38 starts a server and fills it; nil: there is none, which startTile38 has printed.
func (b *bench) startTile38(ctx context.Context) (_ *tile38, err error) {
	program := b.tile38Program
	if program == "" {
		if program, err = buildTile38(ctx, b.dir); err != nil {
			step(fmt.Sprintf("SKIPPED: the comparison with Tile38, which cannot be built here (name a tile38-server by -tile38): %v", err))
			return nil, nil
		}
	}
	s := new(tile38)
	if s.addr, err = freeAddress(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, program, "-h", "127.0.0.1", "-p", port, "-d", filepath.Join(b.dir, "tile38"), "--appendonly", "no", "-q")
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.waitUntilReady(ctx); err != nil {
		s.stop()
		return nil, err
	}
	if err := s.fill(ctx, b); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// buildTile38 builds the server outside this module, so that its dependencies do not become this module's.
func buildTile38(ctx context.Context, dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "install", tile38Module)
	cmd.Dir = full
	cmd.Env = append(cmd.Environ(), "GOBIN="+full, "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w: %s", tile38Module, err, bytes.TrimSpace(out))
	}
	return filepath.Join(full, "tile38-server"), nil
}

func (s *tile38) stop() {
	_ = s.cmd.Process.Kill() // it holds nothing
	_ = s.cmd.Wait()         // reports the kill
}

func (s *tile38) waitUntilReady(ctx context.Context) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("tile38-server was not ready in time: %w", err)
		}
	}
}

// fill sets the points that bench.fill pushes, in the same order, with the fields that a service's answer has.
func (s *tile38) fill(ctx context.Context, b *bench) (err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	answers := bufio.NewReader(conn)
	c, per := newCountry(), b.entities/len(b.feeds)
	for feed := range b.feeds {
		for from := 0; from < per; from += batchRows {
			var commands []byte
			count := min(batchRows, per-from)
			for number := from; number < from+count; number++ {
				lat, lng := c.place()
				commands = appendCommand(commands, "SET", "bench", fmt.Sprintf("%s:%07d", prefix(feed), number),
					"FIELD", "kind", c.kinds[number%len(c.kinds)], "FIELD", "maxspeed_kmh", strconv.Itoa(30+number%10*10),
					"POINT", strconv.FormatFloat(lat, 'f', 6, 64), strconv.FormatFloat(lng, 'f', 6, 64))
			}
			if _, err := conn.Write(commands); err != nil {
				return err
			}
			for range count {
				if _, err := readRESP(answers); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// nearbyCommands converts the service's paths to Tile38's queries, with the default limit of the service.
func nearbyCommands(paths []string) ([][]byte, error) {
	var all [][]byte
	for _, path := range paths {
		u, err := url.Parse(path)
		if err != nil {
			return nil, err
		}
		q := u.Query()
		all = append(all, appendCommand(nil, "NEARBY", "bench", "LIMIT", "200", "DISTANCE", "POINT", q.Get("lat"), q.Get("lng"), q.Get("radius")))
	}
	return all, nil
}

// appendCommand appends one command of the Redis protocol.
func appendCommand(dst []byte, words ...string) []byte {
	dst = fmt.Appendf(dst, "*%d\r\n", len(words))
	for _, word := range words {
		dst = fmt.Appendf(dst, "$%d\r\n%s\r\n", len(word), word)
	}
	return dst
}

// readRESP reads one answer of the Redis protocol and returns its length in bytes.
func readRESP(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	size := len(line)
	text := strings.TrimSpace(string(line[1:]))
	switch line[0] {
	case '+', ':':
		return size, nil
	case '$', '*':
	default:
		return 0, fmt.Errorf("answer: %s", bytes.TrimSpace(line))
	}
	kind := line[0]
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return size, err
	}
	if kind == '$' {
		discarded, err := r.Discard(n + 2)
		return size + discarded, err
	}
	for range n {
		more, err := readRESP(r)
		if err != nil {
			return 0, err
		}
		size += more
	}
	return size, nil
}

// processorTime returns the processor time that a process has used so far.
func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, found := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if !found || len(fields) < 13 {
		return 0, io.ErrUnexpectedEOF
	}
	var ticks time.Duration
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond, nil
}

// perAnswer measures the processor time that a process uses for each answer of a load.
func perAnswer(pid int, run func() (*loadResult, error)) (time.Duration, error) {
	before, err := processorTime(pid)
	if err != nil {
		return 0, err
	}
	result, err := run()
	if err != nil {
		return 0, err
	}
	after, err := processorTime(pid)
	if err != nil {
		return 0, err
	}
	return (after - before) / time.Duration(max(1, result.requests)), nil
}

// besideTile38 compares the processor time that the service and Tile38 use for the same queries over the same points,
// round by round in turn.
func (b *bench) besideTile38(ctx context.Context) error {
	s, err := b.startTile38(ctx)
	if s == nil || err != nil {
		return err
	}
	defer s.stop()
	for _, c := range []struct {
		wanted int
		goal   float64
	}{{20, 15}, {100, 15}} {
		paths, err := b.paths(ctx, c.wanted)
		if err != nil {
			return err
		}
		commands, err := nearbyCommands(paths)
		if err != nil {
			return err
		}
		var ratios, ours, theirs []float64
		for range b.rounds {
			near, err := perAnswer(b.process.Process.Pid, func() (*loadResult, error) { return load(ctx, b.addr, paths, b.round) })
			if err != nil {
				return err
			}
			other, err := perAnswer(s.cmd.Process.Pid, func() (*loadResult, error) { return loadRequests(ctx, s.addr, commands, readRESP, b.round) })
			if err != nil {
				return err
			}
			ours, theirs = append(ours, float64(near.Nanoseconds())/1000), append(theirs, float64(other.Nanoseconds())/1000)
			ratios = append(ratios, float64(other)/float64(near))
		}
		times := median(ratios)
		b.table.add(fmt.Sprintf("processor time an answer, ≈ %d entities: Tile38 / nearby", c.wanted), fmt.Sprintf("≥ %.0f ×", c.goal),
			fmt.Sprintf("%.1f × (%.0f µs / %.1f µs)", times, median(theirs), median(ours)), times >= c.goal)
	}
	return nil
}
