package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Sizes of a WAV file, in bytes.
const (
	riffHead   = 12 // "RIFF", size, "WAVE"
	chunkHead  = 8  // name, size
	formatSize = 16 // of the format chunk of plain samples
)

const plainSamples = 1 // the encoding that every browser plays

func isWave(b []byte) bool {
	return len(b) >= riffHead && bytes.Equal(b[:4], []byte("RIFF")) && bytes.Equal(b[8:riffHead], []byte("WAVE"))
}

// judgeWave returns a WAV file with only the format and the samples of the given one. A program that writes into a pipe
// cannot know the sizes in advance, so judgeWave accepts a size of the samples beyond the end of the file.
func judgeWave(b []byte) ([]byte, error) {
	var head []byte
	for at := riffHead; at+chunkHead <= len(b); {
		name, size := string(b[at:at+4]), uint64(binary.LittleEndian.Uint32(b[at+4:]))
		body := b[at+chunkHead:]
		switch {
		case name == "data" && head == nil:
			return nil, errors.New("the WAV file has samples before their format")
		case name == "data":
			return writeWave(head, body[:min(size, uint64(len(body)))])
		case size > uint64(len(body)):
			return nil, errors.New("the WAV file ends within a chunk")
		case name == "fmt ":
			if err := checkWaveFormat(body[:size]); err != nil {
				return nil, err
			}
			head = body[:formatSize]
		}
		at += chunkHead + int(size+size%2) // chunks begin at even offsets
	}
	return nil, errors.New("the WAV file has no samples")
}

// checkWaveFormat checks for plain samples in a form that browsers play.
func checkWaveFormat(b []byte) error {
	if len(b) < formatSize {
		return errors.New("the WAV file has no whole format")
	}
	encoding, channels := binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])
	rate, perSecond := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	frame, bits := binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint16(b[14:])
	switch {
	case encoding != plainSamples:
		return fmt.Errorf("the WAV file has encoding %d; write plain samples (PCM)", encoding)
	case channels < 1 || channels > 2, rate < 8000 || rate > 96000, bits != 8 && bits != 16 && bits != 24:
		return fmt.Errorf("the WAV file has %d channels, %d Hz, %d bits; write 1 or 2, 8000 to 96000 Hz, and 8, 16 or 24 bits", channels, rate, bits)
	case frame != channels*bits/8, perSecond != rate*uint32(frame):
		return errors.New("the format of the WAV file contradicts itself")
	}
	return nil
}

func writeWave(head, samples []byte) ([]byte, error) {
	frame, perSecond := int(binary.LittleEndian.Uint16(head[12:])), int64(binary.LittleEndian.Uint32(head[8:]))
	samples = samples[:len(samples)-len(samples)%frame]
	if len(samples) == 0 {
		return nil, errors.New("the WAV file has no samples")
	}
	if lasts := time.Duration(int64(len(samples)) * int64(time.Second) / perSecond); lasts > maxDuration {
		return nil, fmt.Errorf("the WAV file lasts %v, more than %v", lasts.Round(time.Second), maxDuration)
	}
	padding := len(samples) % 2
	out := make([]byte, 0, riffHead+chunkHead+formatSize+chunkHead+len(samples)+padding)
	size := func(n int) { out = binary.LittleEndian.AppendUint32(out, uint32(n)) } //nolint:gosec // at most maxAudio
	out = append(out, "RIFF"...)
	size(cap(out) - chunkHead)
	out = append(out, "WAVEfmt "...)
	size(formatSize)
	out = append(append(out, head...), "data"...)
	size(len(samples))
	out = append(out, samples...)
	return append(out, make([]byte, padding)...), nil
}
