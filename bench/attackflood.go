package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// door is one way to cost the service resources. Each of its workers calls attack repeatedly.
type door struct {
	name    string
	workers int
	attack  func(ctx context.Context, v *visitor) error
}

// flood holds the state of one flooding process.
type flood struct {
	*attackPlan
	pushes [][]byte // bodies of 7.8 MB, made once
	group  sync.WaitGroup

	mu       sync.Mutex
	answered map[string]map[string]int // by door and status, or "failed"
}

func newFlood(p *attackPlan) *flood {
	return &flood{attackPlan: p, answered: make(map[string]map[string]int)}
}

func (f *flood) counts() map[string]map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answered
}

func (f *flood) count(door, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.answered[door] == nil {
		f.answered[door] = make(map[string]int)
	}
	f.answered[door][what]++
}

// enter starts the workers of a door, which end with ctx.
func (f *flood) enter(ctx context.Context, d door) {
	workers := max(1, d.workers/max(1, f.Share))
	for i := range workers {
		f.group.Go(func() {
			v := f.visitor(d.name, i)
			defer v.close()
			for ctx.Err() == nil {
				if err := d.attack(ctx, v); err != nil && ctx.Err() == nil {
					f.count(d.name, "failed")
					v.close()
					pause(ctx, failurePause)
				}
			}
		})
	}
}

// failurePause is how long a worker waits before it connects again, so that refused connections are not all that a flood does.
const failurePause = 20 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// visitor is one worker: a connection from its own address or a shared one, and random choices that are the same in each run.
type visitor struct {
	flood   *flood
	door    string
	number  int
	random  *rand.Rand
	conn    net.Conn
	reader  *bufio.Reader
	session string // of a drive
}

func (f *flood) visitor(door string, number int) *visitor {
	return &visitor{flood: f, door: door, number: number, random: rand.New(rand.NewPCG(29, uint64(number)))}
}

func (v *visitor) close() {
	if v.conn != nil {
		_ = v.conn.Close() // it may have ended already
		v.conn = nil
	}
}

// connect connects from the visitor's address unless it is connected. The connection is closed with ctx.
func (v *visitor) connect(ctx context.Context) error {
	if v.conn != nil {
		return nil
	}
	from := net.IPv4(127, 0, v.flood.Network, byte(1+v.number%v.flood.Addresses))
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: answerTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", v.flood.Addr)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // wakes reads and writes that wait for the service
	v.conn, v.reader = conn, bufio.NewReaderSize(conn, 4<<10)
	return nil
}

// send connects and writes a request.
func (v *visitor) send(ctx context.Context, request []byte) error {
	if err := v.connect(ctx); err != nil {
		return err
	}
	_, err := v.conn.Write(request)
	return err
}

// ask sends a request, reads the answer and counts its status. It returns the first 4 KiB of the answer.
func (v *visitor) ask(ctx context.Context, request []byte) (status int, body []byte, err error) {
	// A connection that the service closed meanwhile is no failure: the loop opens it again.
	for range 2 {
		if err = v.send(ctx, request); err == nil {
			status, body, err = v.receive()
		}
		if err == nil || ctx.Err() != nil {
			break
		}
		v.close()
	}
	if err == nil {
		v.flood.count(v.door, strconv.Itoa(status))
	}
	return status, body, err
}

func (v *visitor) receive() (status int, body []byte, err error) {
	resp, err := http.ReadResponse(v.reader, nil)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	if body, err = io.ReadAll(io.LimitReader(resp.Body, 4<<10)); err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if resp.Close {
		v.close()
	}
	return resp.StatusCode, body, err
}

// get returns a GET request with further header lines, each with its CR LF.
func (v *visitor) get(path, header string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, v.flood.Addr, header)
}

// post returns a request with a body.
func (v *visitor) post(method, path, contentType, header string, body []byte) []byte {
	return append(fmt.Appendf(make([]byte, 0, 256+len(header)+len(body)), "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n",
		method, path, v.flood.Addr, contentType, len(body), header), body...)
}

const jsonType = "application/json"

// place returns a random place on a road.
func (v *visitor) place() [2]float64 { return v.flood.Places[v.random.IntN(len(v.flood.Places))] }

// row returns a random place of a pushed row.
func (v *visitor) row() [2]float64 { return v.flood.Rows[v.random.IntN(len(v.flood.Rows))] }

// coordinates returns random places as JSON.
func (v *visitor) coordinates(count int) []byte {
	text := []byte{'['}
	for i := range count {
		if i > 0 {
			text = append(text, ',')
		}
		at := v.place()
		text = fmt.Appendf(text, "[%.6f,%.6f]", at[1], at[0])
	}
	return append(text, ']')
}

// cookie returns a header line with the session of one of the accounts.
func (v *visitor) cookie() string {
	return "Cookie: " + v.flood.Cookies[v.number%len(v.flood.Cookies)] + "\r\n"
}
