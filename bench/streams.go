package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The measured streams: a grid of points about two kilometres apart, with four streams per client address.
const (
	streamCount   = 10_000
	streamsAcross = 100
	streamLat     = 45.0
	streamLng     = 5.0
	streamStep    = 0.02 // degrees
	streamRadius  = 2000 // metres
	perAddress    = 4
	streamRows    = 50 // of a push
	streamPushes  = 100
	pushEvery     = 100 * time.Millisecond
	idleTime      = 45 * time.Second // two keep-alive messages
)

// spectators are all streams, with their events.
type spectators struct {
	conns []net.Conn
	open  atomic.Int64
	well  atomic.Int64 // ended cleanly

	mu        sync.Mutex
	stored    map[int]time.Time // by number of the push
	latencies []time.Duration
	reading   sync.WaitGroup
}

// runStreams measures the cost of streams on a service without entities.
func (b *bench) runStreams(ctx context.Context) error {
	s := &spectators{stored: make(map[int]time.Time)}
	defer s.close()
	alone, _, err := b.memory()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.openAll(ctx, b.addr); err != nil {
		return err
	}
	b.table.note("opening 10 000 streams", fmt.Sprintf("%.1f s", time.Since(began).Seconds()))
	step("idling")
	before, err := b.processor()
	if err != nil {
		return err
	}
	time.Sleep(idleTime)
	after, err := b.processor()
	if err != nil {
		return err
	}
	now, peak, err := b.memory()
	if err != nil {
		return err
	}
	b.table.add("memory with 10 000 idle streams", "≤ 600 MB", fmt.Sprintf("%.0f MB (peak %.0f, without %.0f)", now, peak, alone), peak <= 600)
	b.table.note("processor with 10 000 idle streams", fmt.Sprintf("%.1f %% of a core", (after-before).Seconds()/idleTime.Seconds()*100))
	if got := s.open.Load(); got != streamCount {
		return fmt.Errorf("%d streams are left", got)
	}
	step("pushing beside the streams")
	if err := b.tell(ctx, s); err != nil {
		return err
	}
	step("stopping with the streams open")
	began = time.Now()
	if err := b.stop(); err != nil {
		return err
	}
	took := time.Since(began)
	s.reading.Wait()
	b.table.add("stopping with 10 000 streams", "≤ 10 s, each whole", fmt.Sprintf("%.1f s, %d whole", took.Seconds(), s.well.Load()), took <= 10*time.Second && s.well.Load() == streamCount)
	return nil
}

// tell pushes rows across the grid and measures when the streams nearby receive them.
func (b *bench) tell(ctx context.Context, s *spectators) error {
	rng := rand.New(rand.NewPCG(20261121, 3))
	tick := time.NewTicker(pushEvery)
	defer tick.Stop()
	began := time.Now()
	for push := range streamPushes {
		var rows []entity
		for i := range streamRows {
			at := place(rng.IntN(streamCount))
			rows = append(rows, entity{"told-" + strconv.Itoa(push), i, "alert.hazard", at[0] + rng.NormFloat64()*0.005, at[1] + rng.NormFloat64()*0.005})
		}
		batch := []byte{'['}
		for i, r := range rows {
			if i > 0 {
				batch = append(batch, ',')
			}
			batch = appendEntity(batch, r, push)
		}
		if err := b.push(ctx, b.feeds[0], append(batch, ']'), len(rows)); err != nil {
			return err
		}
		s.mu.Lock()
		s.stored[push] = time.Now()
		s.mu.Unlock()
		<-tick.C
	}
	took := time.Since(began)
	time.Sleep(2 * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.latencies) == 0 {
		return errors.New("no stream received an event")
	}
	slices.Sort(s.latencies)
	at := func(share float64) time.Duration { return s.latencies[int(share*float64(len(s.latencies)-1))] }
	b.table.add(fmt.Sprintf("from stored to told, %.0f rows/s, %d events", streamPushes*streamRows/took.Seconds(), len(s.latencies)), "p99 ≤ 1 s",
		fmt.Sprintf("p50 %.0f ms, p99 %.0f ms, most %.0f ms", millis(at(0.5)), millis(at(0.99)), millis(at(1))), at(0.99) <= time.Second)
	return nil
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

func place(i int) [2]float64 {
	return [2]float64{streamLat + float64(i/streamsAcross)*streamStep, streamLng + float64(i%streamsAcross)*streamStep}
}

// openAll opens all streams in groups.
func (s *spectators) openAll(ctx context.Context, addr string) error {
	const atOnce = 64
	var mu sync.Mutex
	return eachAtOnce(streamCount, atOnce, func(i int) error {
		conn, err := s.watch(ctx, addr, i)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		s.conns = append(s.conns, conn)
		return nil
	})
}

// watch opens one stream from an address that four streams share.
func (s *spectators) watch(ctx context.Context, addr string, i int) (net.Conn, error) {
	from := i / perAddress
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(from>>8), byte(from))}}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	at := place(i)
	if _, err := fmt.Fprintf(conn, "GET /v2/stream?lat=%.4f&lng=%.4f&radius=%d HTTP/1.1\r\nHost: bench\r\n\r\n", at[0], at[1], streamRadius); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	reader := bufio.NewReaderSize(conn, 2048)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("stream %d: %v", i, resp), err, conn.Close())
	}
	s.open.Add(1)
	s.reading.Go(func() { s.read(resp.Body) })
	return conn, nil
}

// read reads a stream to its end.
func (s *spectators) read(body io.ReadCloser) {
	defer s.open.Add(-1)
	defer body.Close() //nolint:errcheck // read only
	lines := bufio.NewReaderSize(body, 1024)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			s.well.Add(1)
			return
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		_, rest, told := bytes.Cut(line, []byte(`"external_id":"told-`))
		if !told {
			continue
		}
		number, _, _ := bytes.Cut(rest, []byte{':'})
		if push, err := strconv.Atoi(string(number)); err == nil {
			s.told(push, time.Now())
		}
	}
}

func (s *spectators) told(push int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, answered := s.stored[push]
	if !answered {
		stored = at // the event arrived before the answer to the push
	}
	s.latencies = append(s.latencies, at.Sub(stored))
}

func (s *spectators) close() {
	for _, conn := range s.conns {
		_ = conn.Close() // it may have ended already
	}
	s.reading.Wait()
}
