package ahead

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"
	"time"

	"wayside/internal/ground/geo"
)

const (
	maxCandidates = 8
	maxSections   = 3

	// MaxStateLength is the maximum length of a token in bytes (D15.22). Valid tokens have at most 200.
	MaxStateLength = 512
)

// State is what one answer passes to the next: the arcs on which the car may be, and the average-speed sections that it
// is in or approaches. It is stored in a token that the client sends back; a forged token affects only that client.
type State struct {
	Roads    uint32 // the version of the roads
	At       time.Time
	seeds    [maxCandidates]seed
	count    int
	sections [maxSections]Section
	begun    int // number of sections
}

// Section is a section of road over which the mean speed is measured.
type Section struct {
	To      geo.Point
	Limit   float64 // km/h; 0: unknown
	Driven  float64 // metres since its beginning; negative: the section lies ahead
	Entered time.Time
}

// Mean returns the mean speed so far in m/s, and false if too little was driven.
func (s *Section) Mean(now time.Time) (float64, bool) {
	seconds := now.Sub(s.Entered).Seconds()
	if s.Driven < minSectionMetres || seconds < minSectionSeconds {
		return 0, false
	}
	return s.Driven / seconds, true
}

// Bounds of sections.
const (
	minSectionMetres  = 50
	minSectionSeconds = 3
	maxSectionMetres  = 100_000
	maxSectionLimit   = 300 // km/h
	maxSectionAge     = 4 * time.Hour
	sameEnd           = 1    // metres
	sectionAhead      = 1500 // metres: within this distance, the end of a section that the car is on must be on the walk
)

func (s *State) arcs() []seed { return s.seeds[:s.count] }

// Arc returns the arc on which the car most probably is.
func (s *State) Arc() uint32 { return s.seeds[0].arc }

// Sections returns the sections that the car is in or approaches.
func (s *State) Sections() []Section { return s.sections[:s.begun] }

// drive records that the car drove some metres. It drops sections that the car has not reached yet, because each answer
// adds those ahead again.
func (s *State) drive(metres, speed float64, now time.Time) {
	kept := 0
	for i := range s.sections[:s.begun] {
		one := s.sections[i]
		ahead := one.Driven < 0
		one.Driven += metres
		if ahead && one.Driven >= 0 {
			one.Entered = now.Add(-time.Duration(min(one.Driven, metres) / max(speed, 1) * float64(time.Second)))
		}
		if one.Driven < 0 || one.Driven > maxSectionMetres || now.Sub(one.Entered) > maxSectionAge {
			continue
		}
		s.sections[kept] = one
		kept++
	}
	s.begun = kept
}

// leave drops sections whose end the car passed, or that the car left before the end.
func (s *State) leave(w *Walk, at geo.Point) {
	kept := 0
	for i := range s.sections[:s.begun] {
		one := s.sections[i]
		_, ahead := w.Find(&Pin{At: one.To})
		if !ahead && geo.Distance(at, one.To) < sectionAhead {
			continue
		}
		s.sections[kept] = one
		kept++
	}
	s.begun = kept
}

// Comes adds a section that begins some metres ahead.
func (s *State) Comes(to geo.Point, limit, metres float64) {
	for i := range s.sections[:s.begun] {
		if geo.Distance(s.sections[i].To, to) < sameEnd {
			return // the car is near its beginning
		}
	}
	if s.begun < maxSections && limit >= 0 && limit <= maxSectionLimit && to.Valid() {
		s.sections[s.begun] = Section{To: to, Limit: limit, Driven: -max(metres, 0.1), Entered: s.At}
		s.begun++
	}
}

// The form of a token, before base64: the version of the format, the version of the roads, the time, the arcs and the
// sections.
const (
	stateVersion = 1
	headBytes    = 1 + 4 + 8 + 1
	seedBytes    = 4 + 2 + 1
	sectionBytes = 4 + 4 + 2 + 4 + 4
	maxBytes     = headBytes + maxCandidates*seedBytes + 1 + maxSections*sectionBytes
)

// Append appends the token of a state.
func (s *State) Append(dst []byte) []byte {
	raw := make([]byte, 0, maxBytes)
	raw = append(raw, stateVersion)
	raw = binary.BigEndian.AppendUint32(raw, s.Roads)
	raw = binary.BigEndian.AppendUint64(raw, uint64(s.At.UnixMilli()))
	raw = append(raw, byte(s.count))
	for _, one := range s.arcs() {
		raw = binary.BigEndian.AppendUint32(raw, one.arc)
		raw = binary.BigEndian.AppendUint16(raw, uint16(math.Round(one.share*math.MaxUint16)))
		raw = append(raw, byte(max(1, math.Round(one.probability*math.MaxUint8))))
	}
	raw = append(raw, byte(s.begun))
	for i := range s.sections[:s.begun] {
		one := &s.sections[i]
		raw = binary.BigEndian.AppendUint32(raw, uint32(int32(math.Round(one.To.Lat*1e7))))
		raw = binary.BigEndian.AppendUint32(raw, uint32(int32(math.Round(one.To.Lng*1e7))))
		raw = binary.BigEndian.AppendUint16(raw, uint16(math.Round(one.Limit)))
		raw = binary.BigEndian.AppendUint32(raw, uint32(max(0, s.At.Sub(one.Entered).Milliseconds())))
		raw = binary.BigEndian.AppendUint32(raw, math.Float32bits(float32(one.Driven)))
	}
	return base64.RawURLEncoding.AppendEncode(dst, raw)
}

// ParseState parses a token. It returns false if the token is invalid, or of an older version. It does not check whether
// the token's arcs exist; the user of the arcs must.
func ParseState(text string) (*State, bool) {
	if len(text) > MaxStateLength || strings.ContainsAny(text, "\r\n") { // decoding would skip these
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < headBytes+1 || raw[0] != stateVersion {
		return nil, false
	}
	s := &State{Roads: binary.BigEndian.Uint32(raw[1:]), At: time.UnixMilli(int64(binary.BigEndian.Uint64(raw[5:])))}
	s.count = int(raw[headBytes-1])
	raw = raw[headBytes:]
	if s.count > maxCandidates || len(raw) < s.count*seedBytes+1 {
		return nil, false
	}
	for i := range s.count {
		s.seeds[i] = seed{binary.BigEndian.Uint32(raw), float64(binary.BigEndian.Uint16(raw[4:])) / math.MaxUint16, float64(raw[6]) / math.MaxUint8}
		if raw[6] == 0 {
			return nil, false
		}
		raw = raw[seedBytes:]
	}
	s.begun = int(raw[0])
	if raw = raw[1:]; s.begun > maxSections || len(raw) != s.begun*sectionBytes {
		return nil, false
	}
	for i := range s.begun {
		one := &s.sections[i]
		one.To = geo.Point{Lat: float64(int32(binary.BigEndian.Uint32(raw))) / 1e7, Lng: float64(int32(binary.BigEndian.Uint32(raw[4:]))) / 1e7}
		one.Limit = float64(binary.BigEndian.Uint16(raw[8:]))
		one.Entered = s.At.Add(-time.Duration(binary.BigEndian.Uint32(raw[10:])) * time.Millisecond)
		one.Driven = float64(math.Float32frombits(binary.BigEndian.Uint32(raw[14:])))
		if !one.To.Valid() || one.Limit > maxSectionLimit || !(math.Abs(one.Driven) <= maxSectionMetres) {
			return nil, false
		}
		raw = raw[sectionBytes:]
	}
	return s, true
}
