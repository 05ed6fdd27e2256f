package navigation

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"wayside/internal/drive/nav/session"
	"wayside/internal/entities/wire"
	"wayside/internal/http/httpapi"
)

// getDriveEvents answers GET /v2/navigation/sessions/{id}/events with the route, and its changes until the client leaves.
//
// The handler sends the header and the first event, takes the connection over from net/http and returns. While nothing happens, a
// stream is then no more than a connection: the two goroutines and the buffers that net/http keeps for a request would be five
// times the session.
func (a *api) getDriveEvents(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	s, err := a.findDrive(r)
	if err != nil {
		return err
	}
	if err := s.MayRead(); err != nil {
		return err
	}
	a.StreamHeader(w.Header())
	if r.Method == http.MethodHead {
		return nil
	}
	if r.ProtoMajor > 1 { // from another node, whose connection has other streams too
		delete(w.Header(), "Connection")
	}
	events := a.NewEventWriter(w)
	first := s.Begin()
	if err := events.Send(r.Context(), appendDriveEvent(nil, &first)); err != nil {
		if events.Started {
			return nil // the client is gone
		}
		return err
	}
	conn, _, err := events.Control.Hijack()
	if err == nil {
		d := &driveConn{conn: conn, timeout: a.StreamWriteTimeout, chunked: r.ProtoAtLeast(1, 1)}
		s.Attach(session.Client{Send: d.send, Heartbeat: d.heartbeat, Close: d.close})
		return nil
	}
	s.Follow(r.Context(), session.Client{
		Send: func(ctx context.Context, list []session.Event) error {
			return events.Send(ctx, appendDriveEvents(nil, list))
		},
		Heartbeat: func(ctx context.Context) error { return events.Send(ctx, []byte(heartbeatEvent)) },
	})
	_ = events.SetWriteDeadline() // fails only if the connection is closed
	return nil
}

// heartbeatEvent is a comment, which clients skip.
const heartbeatEvent = ":\n\n"

// lastChunkTimeout is for the end of a stream, which fits into the buffers of every client that reads.
const lastChunkTimeout = 50 * time.Millisecond

// driveConn is a connection that was taken over after the beginning of an answer.
type driveConn struct {
	conn    net.Conn
	timeout time.Duration // for some kilobytes to be sent
	chunked bool          // bodies of unknown length in HTTP/1.1
}

func (d *driveConn) send(_ context.Context, list []session.Event) error {
	body := appendDriveEvents(nil, list)
	for len(body) > 0 {
		chunk := body[:min(len(body), httpapi.StreamChunkBytes)]
		body = body[len(chunk):]
		if err := d.write(chunk, d.timeout); err != nil {
			return err
		}
	}
	return nil
}

func (d *driveConn) heartbeat(context.Context) error {
	return d.write([]byte(heartbeatEvent), d.timeout)
}

// write sends a part of the body. An empty one ends it.
func (d *driveConn) write(part []byte, timeout time.Duration) error {
	if d.chunked {
		framed := make([]byte, 0, len(part)+16)
		framed = append(strconv.AppendInt(framed, int64(len(part)), 16), "\r\n"...)
		part = append(append(framed, part...), "\r\n"...)
	}
	if err := d.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := d.conn.Write(part)
	return err
}

// close ends the answer and the connection.
func (d *driveConn) close(last *session.Event, busy bool) {
	if !busy && last != nil {
		_ = d.write(appendDriveEvent(nil, last), lastChunkTimeout)
	}
	if !busy && d.chunked {
		_ = d.write(nil, lastChunkTimeout) // the client may be gone
	}
	_ = d.conn.Close()
}

func appendDriveEvents(dst []byte, list []session.Event) []byte {
	for i := range list {
		dst = appendDriveEvent(dst, &list[i])
	}
	return dst
}

// appendDriveEvent appends an event with its data, a JSON object.
func appendDriveEvent(dst []byte, e *session.Event) []byte {
	dst = append(append(dst, "event: "...), e.Name...)
	dst = append(dst, "\ndata: {"...)
	if e.Route != nil {
		dst = append(append(append(dst, `"route":`...), e.Route...), ',')
	}
	if e.Reason != "" {
		dst = append(wire.AppendString(append(dst, `"reason":`...), e.Reason), ',')
	}
	dst = append(dst, `"entity_ids":[`...)
	for i, id := range e.EntityIDs {
		dst = wire.AppendString(wire.AppendComma(dst, i > 0), id)
	}
	dst = append(dst, ']')
	if e.Name != session.Moved { // a Moved event must not wait until the arrival is known
		dst = append(dst, `,"duration_s":`...)
		dst = strconv.AppendFloat(dst, e.Left.Seconds(), 'f', 1, 64)
		dst = wire.AppendTime(append(dst, `,"arrival_at":`...), e.At.Add(e.Left).UnixMilli())
	}
	dst = wire.AppendTime(append(dst, `,"at":`...), e.At.UnixMilli())
	return append(dst, "}\n\n"...)
}
