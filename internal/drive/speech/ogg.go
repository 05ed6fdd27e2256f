package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// oggHead is the size of a page header without its segment table, in bytes.
const oggHead = 27

// Flags of a page.
const (
	oggContinued = 1 << iota
	oggFirst
	oggLast
)

func isOgg(b []byte) bool { return bytes.HasPrefix(b, []byte("OggS")) }

// judgeOgg checks an Ogg file page by page: it must be one stream of Opus or Vorbis whose pages are complete and have
// correct checksums.
func judgeOgg(b []byte) error {
	var serial, number uint32
	for at := 0; at < len(b); number++ {
		page, body, err := oggPage(b[at:])
		if err != nil {
			return err
		}
		flags, of := page[5], binary.LittleEndian.Uint32(page[14:])
		switch {
		case at == 0 && (flags != oggFirst || !isOggAudio(body)):
			return errors.New("the Ogg file holds neither Opus nor Vorbis")
		case at == 0:
			serial = of
		case flags&oggFirst != 0 || of != serial:
			return errors.New("the Ogg file has more than one stream")
		}
		if binary.LittleEndian.Uint32(page[18:]) != number {
			return errors.New("the Ogg file lacks a page")
		}
		at += len(page)
	}
	if number < 3 { // two header pages and sound
		return errors.New("the Ogg file has no sound")
	}
	return nil
}

// oggPage returns the page at the beginning of b, and its body.
func oggPage(b []byte) (page, body []byte, err error) {
	if len(b) < oggHead || !isOgg(b) || b[4] != 0 {
		return nil, nil, errors.New("the Ogg file has something between its pages")
	}
	bodyAt := oggHead + int(b[26])
	if len(b) < bodyAt {
		return nil, nil, errors.New("the Ogg file ends within a page")
	}
	size := bodyAt
	for _, segment := range b[oggHead:bodyAt] {
		size += int(segment)
	}
	if len(b) < size {
		return nil, nil, errors.New("the Ogg file ends within a page")
	}
	if oggChecksum(b[:size]) != binary.LittleEndian.Uint32(b[22:]) {
		return nil, nil, errors.New("the Ogg file has a page with a wrong checksum")
	}
	return b[:size], b[bodyAt:size], nil
}

func isOggAudio(body []byte) bool {
	return bytes.HasPrefix(body, []byte("OpusHead")) || bytes.HasPrefix(body, []byte("\x01vorbis"))
}

// oggChecksum returns the checksum of a page, computed with the checksum field as zero. It is a CRC-32 without
// reflection and inversion, which hash/crc32 does not offer.
func oggChecksum(page []byte) uint32 {
	const polynomial = 0x04c11db7
	var sum uint32
	for i, b := range page {
		if i >= 22 && i < 26 {
			b = 0
		}
		sum ^= uint32(b) << 24
		for range 8 {
			if sum&(1<<31) != 0 {
				sum = sum<<1 ^ polynomial
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}
