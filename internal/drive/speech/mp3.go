package speech

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

const (
	id3Head   = 10  // size of the header of a tag before the sound, in bytes
	id3v1Size = 128 // size of a tag after the sound, in bytes
	frameHead = 4   // size of a frame header, in bytes
)

func isMPEG(b []byte) bool {
	_, ok := parseFrame(b)
	return ok || bytes.HasPrefix(b, []byte("ID3"))
}

// judgeMPEG returns the frames of an MP3 file, without the tags before and after them.
func judgeMPEG(b []byte) ([]byte, error) {
	if bytes.HasPrefix(b, []byte("ID3")) {
		size, err := id3Size(b)
		if err != nil {
			return nil, err
		}
		b = b[size:]
	}
	if len(b) >= id3v1Size && bytes.HasPrefix(b[len(b)-id3v1Size:], []byte("TAG")) {
		b = b[:len(b)-id3v1Size]
	}
	var lasts time.Duration
	for at := 0; at < len(b); {
		f, ok := parseFrame(b[at:])
		if !ok || at+f.size > len(b) {
			return nil, errors.New("the MP3 file has something else between its frames")
		}
		lasts += f.lasts
		at += f.size
	}
	switch {
	case lasts == 0:
		return nil, errors.New("the MP3 file has no sound")
	case lasts > maxDuration:
		return nil, fmt.Errorf("the MP3 file lasts %v, more than %v", lasts.Round(time.Second), maxDuration)
	}
	return b, nil
}

// id3Size returns the size of the tag at the beginning, including its header.
func id3Size(b []byte) (int, error) {
	if len(b) < id3Head || (b[6]|b[7]|b[8]|b[9])&0x80 != 0 {
		return 0, errors.New("the MP3 file begins with a damaged tag")
	}
	size := id3Head + (int(b[6])<<21 | int(b[7])<<14 | int(b[8])<<7 | int(b[9]))
	if size > len(b) {
		return 0, errors.New("the MP3 file ends within its tag")
	}
	return size, nil
}

// frame is one frame of MPEG audio, layer III.
type frame struct {
	size  int // bytes
	lasts time.Duration
}

// Rates of layer III, for MPEG 1 and for the later versions; 0 is not allowed.
var (
	kilobits = [2][16]int{
		{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
		{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0},
	}
	hertz = [4]int{44100, 48000, 32000, 0}
)

// parseFrame parses a frame header.
func parseFrame(b []byte) (f frame, ok bool) {
	const (
		version25, version2, version1 = 0, 2, 3
		layer3                        = 1
	)
	if len(b) < frameHead || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return frame{}, false
	}
	version, layer := b[1]>>3&3, b[1]>>1&3
	later, samples, rate := 1, 576, hertz[b[2]>>2&3]
	switch version {
	case version1:
		later, samples = 0, 1152
	case version2:
		rate /= 2
	case version25:
		rate /= 4
	default:
		return frame{}, false
	}
	bits := kilobits[later][b[2]>>4] * 1000
	if layer != layer3 || rate == 0 || bits == 0 {
		return frame{}, false
	}
	padding := int(b[2] >> 1 & 1)
	return frame{samples/8*bits/rate + padding, time.Duration(samples) * time.Second / time.Duration(rate)}, true
}
