package httpserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// peekBytes is how much of a header is waited for. A longer one arrives in net/http's own buffers.
	peekBytes = 4 << 10
	// sweepInterval is the time between two looks for connections that have waited too long.
	sweepInterval = time.Second
)

// headerPoller waits for the headers of many connections with one goroutine and an epoll(7) of its own. What arrives stays in the sockets.
type headerPoller struct {
	pass, drop func(net.Conn)
	timeout    time.Duration // for a header
	epoll      *os.File      // the runtime waits for it as for any other file
	raw        syscall.RawConn
	added      [peekBytes]byte // buffer of add
	looked     [peekBytes]byte // buffer of run

	mu      sync.Mutex
	last    int32 // number of a connection, which its events have
	waiting map[int32]*boundedConn
}

// newHeaderPoller returns a poller that passes connections on whose header has arrived, and drops those that close or wait too long.
func newHeaderPoller(pass, drop func(net.Conn)) (*headerPoller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	err = unix.SetNonblock(fd, true) // or the runtime would not wait for it
	p := &headerPoller{pass: pass, drop: drop, timeout: headerTimeout, epoll: os.NewFile(uintptr(fd), "epoll"), waiting: make(map[int32]*boundedConn)}
	if err == nil {
		p.raw, err = p.epoll.SyscallConn()
	}
	if err != nil {
		return nil, errors.Join(err, p.epoll.Close())
	}
	return p, nil
}

// close ends run.
func (p *headerPoller) close() error { return p.epoll.Close() }

// run passes connections on as their headers arrive, and drops those that wait for too long; at its end it drops all.
func (p *headerPoller) run() {
	events := make([]unix.EpollEvent, 128)
	for swept := time.Now(); ; {
		count := 0
		err := p.raw.Read(func(epoll uintptr) bool {
			var err error
			count, err = unix.EpollWait(int(epoll), events, 0)
			return count > 0 || err != nil
		})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			p.sweep(time.Now().Add(p.timeout + time.Hour)) // everything
			return
		}
		for _, e := range events[:max(count, 0)] {
			p.look(e.Fd)
		}
		if now := time.Now(); now.Sub(swept) >= sweepInterval {
			p.sweep(now)
			swept = now
		}
	}
}

// add waits for the header of a connection.
func (p *headerPoller) add(c *boundedConn) {
	p.mu.Lock()
	p.last++
	number := p.last
	p.waiting[number] = c
	if len(p.waiting) == 1 {
		p.wakeLater()
	}
	p.mu.Unlock()
	done, ok := true, false
	err := control(c.TCPConn, func(fd int) error {
		if done, ok = peekHeader(fd, p.added[:]); done {
			return nil
		}
		return p.control(unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: number})
	})
	p.judge(number, done || err != nil, ok && err == nil)
}

// look looks at what has arrived on a connection.
func (p *headerPoller) look(number int32) {
	p.mu.Lock()
	c, waits := p.waiting[number]
	p.mu.Unlock()
	if !waits {
		return
	}
	done, ok := true, false
	err := control(c.TCPConn, func(fd int) error {
		if done, ok = peekHeader(fd, p.looked[:]); !done {
			return nil
		}
		return p.control(unix.EPOLL_CTL_DEL, fd, nil)
	})
	p.judge(number, done || err != nil, ok && err == nil)
}

// judge ends the wait for a header if it is done: ok says that there is something to answer.
func (p *headerPoller) judge(number int32, done, ok bool) {
	if !done {
		return
	}
	p.mu.Lock()
	c, waits := p.waiting[number]
	delete(p.waiting, number)
	p.mu.Unlock()
	switch {
	case !waits:
	case ok:
		p.pass(c)
	default:
		p.drop(c)
	}
}

// sweep drops the connections that have waited for too long, and those that were closed to make room for others.
func (p *headerPoller) sweep(now time.Time) {
	p.mu.Lock()
	var late []net.Conn
	for number, c := range p.waiting {
		if since := c.waiting.Load(); since < now.Add(-p.timeout).UnixNano() { // evictedConn too
			late = append(late, c)
			delete(p.waiting, number)
		}
	}
	if len(p.waiting) > 0 {
		p.wakeLater()
	} else {
		_ = p.epoll.SetReadDeadline(time.Time{}) // fails only if the poller is closed
	}
	p.mu.Unlock()
	for _, c := range late {
		p.drop(c)
	}
}

// wakeLater has run look for late connections, also if nothing happens.
func (p *headerPoller) wakeLater() {
	_ = p.epoll.SetReadDeadline(time.Now().Add(sweepInterval)) // fails only if the poller is closed
}

// control changes what the epoll waits for.
func (p *headerPoller) control(operation, fd int, event *unix.EpollEvent) (err error) {
	controlled := p.raw.Control(func(epoll uintptr) { err = unix.EpollCtl(int(epoll), operation, fd, event) })
	return errors.Join(controlled, err)
}

// control calls f with the descriptor of a connection, unless it is closed.
func control(conn *net.TCPConn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	return errors.Join(raw.Control(func(fd uintptr) { err = f(int(fd)) }), err)
}

// peekHeader reports whether the end of a header, or as much of it as fits into buffer, is in a socket; also if the client closed its side.
// ok says whether there is something to answer.
func peekHeader(fd int, buffer []byte) (done, ok bool) {
	n, _, err := unix.Recvfrom(fd, buffer, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	for errors.Is(err, unix.EINTR) {
		n, _, err = unix.Recvfrom(fd, buffer, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}
	switch {
	case errors.Is(err, unix.EAGAIN):
		return false, false
	case err != nil, n == 0:
		return true, false
	}
	// A client that has closed its side sends no more: net/http answers half a header.
	return n == len(buffer) || endsHeader(buffer[:n]) || hasHungUp(fd), true
}

// endsHeader reports whether the end of a header is in text. Package net/http takes lines without CR too.
func endsHeader(text []byte) bool {
	return bytes.Contains(text, []byte("\n\r\n")) || bytes.Contains(text, []byte("\n\n"))
}

// hasHungUp reports whether the other side of a connection has ended it.
func hasHungUp(fd int) bool {
	states := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} //nolint:gosec // a descriptor
	n, err := unix.Poll(states, 0)
	return err != nil || n > 0
}
