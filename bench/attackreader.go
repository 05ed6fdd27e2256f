package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The quiet reader: a few cars, each with its own address, within the limit of reads of a guest.
const (
	readsPerSecond  = 20
	readerAddresses = 60
	readerNetwork   = 250 // 127.0.250.1 and the addresses after it
)

// runReader reads nearby entities at a steady rate and prints when each read was due, how many microseconds later its answer had
// arrived, and its status; 0: there was none. A read that is late is measured from when it was due.
func runReader(ctx context.Context, p *attackPlan, out io.Writer) error {
	r := reader{plan: p, out: bufio.NewWriter(out)}
	defer r.cars.Wait()
	var inboxes [readerAddresses]chan time.Time
	for i := range inboxes {
		inboxes[i] = make(chan time.Time, answerTimeout/time.Second*readsPerSecond)
		r.cars.Go(func() { r.car(ctx, i, inboxes[i]) })
	}
	defer func() {
		for _, inbox := range inboxes {
			close(inbox)
		}
	}()
	due := time.Now()
	for i := 0; ; i++ {
		due = due.Add(time.Second / readsPerSecond) // a reader that was late sends the reads that became due meanwhile
		pause(ctx, time.Until(due))
		if ctx.Err() != nil {
			return nil
		}
		select {
		case inboxes[i%readerAddresses] <- due:
		default: // the car has waited for an answer since its timeout, so that its reads count as failed
			r.print(due, answerTimeout, 0)
		}
	}
}

type reader struct {
	plan *attackPlan
	cars sync.WaitGroup
	mu   sync.Mutex
	out  *bufio.Writer
}

func (r *reader) print(due time.Time, took time.Duration, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = fmt.Fprintln(r.out, due.UnixMilli(), took.Microseconds(), status) // it fails only if the parent has ended
	_ = r.out.Flush()
}

// car sends reads on one connection, which it opens again whenever it was closed.
func (r *reader) car(ctx context.Context, number int, dues <-chan time.Time) {
	var conn net.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close() // it may have ended already
		}
	}()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, readerNetwork, byte(1+number))}, Timeout: answerTimeout}
	var answers *bufio.Reader
	for due := range dues {
		if ctx.Err() != nil {
			return
		}
		status := 0
		for range 2 { // once more if an idle connection was closed
			if conn == nil {
				var err error
				if conn, err = dialer.DialContext(ctx, "tcp", r.plan.Addr); err != nil {
					break
				}
				answers = bufio.NewReaderSize(conn, 64<<10)
			}
			var err error
			if status, err = readNearby(conn, answers, r.plan, number); err == nil {
				break
			}
			_ = conn.Close() // it failed
			conn = nil
		}
		if ctx.Err() == nil {
			r.print(due, time.Since(due), status)
		}
	}
}

func readNearby(conn net.Conn, answers *bufio.Reader, p *attackPlan, number int) (status int, err error) {
	at := p.Rows[number%len(p.Rows)]
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(conn, "GET /v2/entities/nearby?lat=%.5f&lng=%.5f&radius=2000&limit=20 HTTP/1.1\r\nHost: %s\r\n\r\n", at[0], at[1], p.Addr); err != nil {
		return 0, err
	}
	if _, err := readAnswer(answers); err != nil {
		return 0, err
	}
	return http.StatusOK, nil
}

// latencies holds the latencies of the reads of one phase.
type latencies struct {
	took   []time.Duration // sorted
	failed int             // not answered by 200
	late   [10]int         // slower than attackLatency, in each tenth of the time
}

func (l *latencies) at(share float64) time.Duration {
	if len(l.took) == 0 {
		return 0
	}
	return l.took[int(share*float64(len(l.took)-1))]
}

// readerResults collects the output of a reader.
type readerResults struct {
	mu    sync.Mutex
	reads []readResult
}

type readResult struct {
	due    int64 // milliseconds since 1970
	took   time.Duration
	status int
}

// gather reads the reader's output until it ends.
func (r *readerResults) gather(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var one readResult
		var micros int64
		if _, err := fmt.Fscan(bytes.NewReader(lines.Bytes()), &one.due, &micros, &one.status); err != nil {
			continue
		}
		one.took = time.Duration(micros) * time.Microsecond
		r.mu.Lock()
		r.reads = append(r.reads, one)
		r.mu.Unlock()
	}
}

// between returns the reads that were due between two times.
func (r *readerResults) between(from, to time.Time) latencies {
	r.mu.Lock()
	defer r.mu.Unlock()
	var l latencies
	for _, one := range r.reads {
		if one.due < from.UnixMilli() || one.due >= to.UnixMilli() {
			continue
		}
		if l.took = append(l.took, one.took); one.status != 200 {
			l.failed++
		}
		if one.took > attackLatency {
			l.late[(one.due-from.UnixMilli())*int64(len(l.late))/(to.UnixMilli()-from.UnixMilli())]++
		}
	}
	slices.Sort(l.took)
	return l
}
