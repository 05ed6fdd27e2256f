package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"wayside/internal/ground/geo"
)

const (
	sessionsMeasured = 10_000
	sessionsPerHost  = 4 // client address
	sessionsOpening  = 32
)

// drivers are clients on drives, each with a stream of events.
type drivers struct {
	addr   string
	places [][2]geo.Point

	mu      sync.Mutex
	conns   []net.Conn
	puts    [][]byte
	reading sync.WaitGroup
	ended   atomic.Int64
}

// sessions opens sessions with their streams of events, and sends the drivers' positions.
func (n *navigation) sessions(ctx context.Context) error {
	d := &drivers{addr: n.addr, places: n.places}
	defer d.close()
	began := time.Now()
	if err := eachAtOnce(sessionsMeasured, sessionsOpening, func(i int) error { return d.open(ctx, i) }); err != nil {
		return err
	}
	n.table.note(n.name+"opening 10 000 sessions and their streams", fmt.Sprintf("%.1f s", time.Since(began).Seconds()))
	use, err := n.memoryUse()
	if err != nil {
		return err
	}
	if err := n.writeMemory(ctx, "sessions"); err != nil {
		return err
	}
	n.table.add(n.name+"memory with 10 000 sessions", "≤ 400 MB", fmt.Sprintf("%.0f MB, the region's %.0f MB included", use.all/1e6, float64(n.region.Bytes)/1e6), use.all <= 400e6)
	random := rand.New(rand.NewPCG(16, 5))
	random.Shuffle(len(d.puts), func(i, j int) { d.puts[i], d.puts[j] = d.puts[j], d.puts[i] })
	result, err := loadRequests(ctx, n.addr, d.puts, readNoContent, n.round)
	if err != nil {
		return err
	}
	rate := float64(result.requests) / result.elapsed.Seconds()
	n.table.add(n.name+"positions of 10 000 sessions", "≥ 2 000/s", fmt.Sprintf("%.0f/s, %d streams ended", rate, d.ended.Load()), rate >= 2000 && d.ended.Load() == 0)
	return nil
}

// open begins one session and reads its events on the same connection, from an address that several sessions share.
func (d *drivers) open(ctx context.Context, i int) error {
	host := i / sessionsPerHost
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 2, byte(host>>8), byte(host))}}
	conn, err := dialer.DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.conns = append(d.conns, conn)
	d.mu.Unlock()
	ends := d.places[i%len(d.places)]
	body := fmt.Sprintf(`{"coordinates":[[%.6f,%.6f],[%.6f,%.6f]],"steps":true,"overview":"full"}`, ends[0].Lng, ends[0].Lat, ends[1].Lng, ends[1].Lat)
	if _, err := fmt.Fprintf(conn, "POST /v2/navigation/sessions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", d.addr, len(body), body); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(conn, 2048)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	var begun struct {
		ID string `json:"id"`
	}
	if err == nil {
		err = json.Unmarshal(text, &begun)
	}
	if err != nil || resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("session %d: %s %.200s: %w", i, resp.Status, text, err)
	}
	if _, err := fmt.Fprintf(conn, "GET /v2/navigation/sessions/%s/events HTTP/1.1\r\nHost: %s\r\n\r\n", begun.ID, d.addr); err != nil {
		return err
	}
	events, err := http.ReadResponse(reader, nil)
	if err != nil || events.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("events of session %d: %v", i, events), err)
	}
	d.reading.Go(func() {
		defer d.ended.Add(1)
		_, _ = io.Copy(io.Discard, events.Body) // until the connection is closed
	})
	position := fmt.Sprintf(`{"lat":%.6f,"lng":%.6f}`, ends[0].Lat, ends[0].Lng)
	put := fmt.Sprintf("PUT /v2/navigation/sessions/%s/position HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", begun.ID, d.addr, len(position), position)
	d.mu.Lock()
	d.puts = append(d.puts, []byte(put))
	d.mu.Unlock()
	return nil
}

// readNoContent reads an answer 204.
func readNoContent(r *bufio.Reader) (int, error) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusNoContent {
		return 0, fmt.Errorf("answer: %s", resp.Status)
	}
	return 0, resp.Body.Close()
}

func (d *drivers) close() {
	for _, conn := range d.conns {
		_ = conn.Close() // it may have ended already
	}
	d.reading.Wait()
}
