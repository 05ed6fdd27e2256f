package relay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/entities/live"
	"wayside/internal/feeds/format/waze"
	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
)

// decode converts an upstream's answer to pins. All rows go through the one row decoder (D3.13), those of the raw form
// too.
func (s *Service) decode(u *upstream, body []byte) (pins []live.Pin, stamp time.Time, err error) {
	var (
		rows  []byte
		items []waze.Item
	)
	if u.Raw {
		items, stamp, err = waze.Decode(body, func(label string) { s.drop(u, label) })
		rows = arrayOf(items)
	} else {
		rows, stamp, err = unwrap(body)
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	now := s.Now()
	batch, err := ingest.DecodeBatch(rows, now)
	if err != nil {
		return nil, time.Time{}, err
	}
	for _, e := range batch.Report().Errors {
		s.drop(u, e.Code)
	}
	for index, row := range batch.All() {
		if row.Retire {
			continue // the row retires itself
		}
		if !s.kinds.Has(row.Kind) {
			s.drop(u, "not_an_incident")
			continue
		}
		pin := live.Pin{Entity: row.Entity(now), Upstream: u.Name, Prior: mapdata.DefaultPrior, Stamp: stamp}
		pin.Lifetime = live.Freshness
		if row.TTL > 0 {
			pin.Lifetime = min(row.TTL, live.Freshness)
		}
		if items != nil {
			pin.Line, pin.Prior = items[index].Line, items[index].Prior
			pin.Digest ^= shapeDigest(&items[index])
		}
		pins = append(pins, pin)
	}
	return pins, stamp, nil
}

func (s *Service) drop(u *upstream, what string) {
	if s.Dropped != nil {
		s.Dropped(u.Name, what)
	}
}

// arrayOf joins the items' rows to one JSON array.
func arrayOf(items []waze.Item) []byte {
	rows := []byte{'['}
	for i := range items {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = append(rows, items[i].Row...)
	}
	return append(rows, ']')
}

// unwrap returns the rows and the time of an answer { entities, fetched_at_utc }. It skips other members.
func unwrap(body []byte) (rows []byte, stamp time.Time, err error) {
	// The row decoder judges duplicate members and text within rows (D3.12).
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")) // as in any text of rows (D3.11)
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if dec.PeekKind() != '{' {
		return nil, time.Time{}, fmt.Errorf("%w: not a JSON object", mapdata.ErrMalformed)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, time.Time{}, errText
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, time.Time{}, errText
		}
		member := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, time.Time{}, errText
		}
		switch {
		case member == "entities" && rows != nil:
			return nil, time.Time{}, fmt.Errorf("%w: entities stands twice", mapdata.ErrMalformed)
		case member == "entities":
			rows = value.Clone()
		case member == "fetched_at_utc":
			stamp = stampOf(value)
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, time.Time{}, errText
	}
	if _, err := dec.ReadToken(); err != io.EOF { //nolint:errorlint // the decoder returns it unwrapped
		return nil, time.Time{}, fmt.Errorf("%w: something follows the object", mapdata.ErrMalformed)
	}
	if rows == nil {
		return nil, time.Time{}, fmt.Errorf("%w: it has no entities", mapdata.ErrMalformed)
	}
	return rows, stamp, nil
}

// errText hides the decoder's message, which may quote the upstream's bytes.
var errText = fmt.Errorf("%w: not one JSON text", mapdata.ErrMalformed)

// stampOf parses fetched_at_utc; it returns zero for a value that is not a time.
func stampOf(value jsontext.Value) time.Time {
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return time.Time{}
	}
	at, err := mapdata.ParseTime(text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// shapeDigest returns a hash of the line and the prior of a raw item; 0: it has neither.
func shapeDigest(item *waze.Item) uint64 {
	if item.Line == nil && item.Prior == mapdata.DefaultPrior {
		return 0
	}
	text := binary.BigEndian.AppendUint64(nil, math.Float64bits(item.Prior))
	for _, p := range item.Line {
		text = binary.BigEndian.AppendUint64(text, math.Float64bits(p.Lat))
		text = binary.BigEndian.AppendUint64(text, math.Float64bits(p.Lng))
	}
	return xxhash.Sum64(text)
}
