package speech

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"
)

// testOgg returns an Ogg file of Opus: two header pages and a page of sound.
func testOgg() []byte {
	var b []byte
	for i, body := range []string{"OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00", "OpusTags\x00\x00\x00\x00\x00\x00\x00\x00", "\xfc\xff\xfe"} {
		page := append([]byte("OggS\x00"), [...]byte{oggFirst, 0, oggLast}[i])
		page = append(page, make([]byte, 8)...)
		page = binary.LittleEndian.AppendUint32(page, 77)
		page = binary.LittleEndian.AppendUint32(page, uint32(i)) //nolint:gosec // 0 to 2
		page = append(page, 0, 0, 0, 0, 1, byte(len(body)))
		page = append(page, body...)
		binary.LittleEndian.PutUint32(page[22:], oggChecksum(page))
		b = append(b, page...)
	}
	return b
}

// testMPEG returns an MP3 file of silent frames: MPEG 1, 128 kbit/s, 44.1 kHz.
func testMPEG(frames int) []byte {
	one := append([]byte{0xff, 0xfb, 0x90, 0x00}, make([]byte, 413)...)
	return bytes.Repeat(one, frames)
}

func TestJudge(t *testing.T) {
	tagged := append([]byte("ID3\x04\x00\x00\x00\x00\x00\x05<svg>"), testMPEG(3)...)
	tagged = append(tagged, append([]byte("TAG"), make([]byte, 125)...)...)
	twoStreams := testOgg()
	for _, tt := range []struct {
		name    string
		written []byte
		want    format
		audio   []byte // nil: as written
		problem string
	}{
		{"WAV of a pipe", testWave([]byte("abcd")), wave, []byte("RIFF\x28\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x04\x00\x00\x00abcd"), ""},
		{"WAV without samples", testWave(nil), wave, nil, "no samples"},
		{"WAV that ends early", testWave(nil)[:30], wave, nil, "ends within a chunk"},
		{"WAV of two minutes", testWave(make([]byte, 120*8000)), wave, nil, "lasts 2m0s"},
		{"WAV of another encoding", bytes.Replace(testWave([]byte("abcd")), []byte("\x01\x00\x01\x00"), []byte("\x11\x00\x01\x00"), 1), wave, nil, "encoding 17"},
		{"WAV whose format contradicts itself", bytes.Replace(testWave([]byte("abcd")), []byte("\x01\x00\x08\x00"), []byte("\x02\x00\x08\x00"), 1), wave, nil, "contradicts"},
		{"Ogg", testOgg(), ogg, nil, ""},
		{"Ogg that ends early", testOgg()[:80], ogg, nil, "ends within a page"},
		{"Ogg with something behind", append(testOgg(), "<script>"...), ogg, nil, "between its pages"},
		{"two streams", append(twoStreams, testOgg()...), ogg, nil, "more than one stream"},
		{"Ogg of a video", bytes.Replace(testOgg(), []byte("OpusHead"), []byte("\x80theora_"), 1), ogg, nil, "wrong checksum"},
		{"MP3", testMPEG(3), mpeg, nil, ""},
		{"MP3 with tags", tagged, mpeg, testMPEG(3), ""},
		{"MP3 whose tag is larger", []byte("ID3\x04\x00\x00\x00\x00\x7f\x7f"), mpeg, nil, "within its tag"},
		{"MP3 that is a tag alone", []byte("ID3\x04\x00\x00\x00\x00\x00\x00"), mpeg, nil, "no sound"},
		{"MP3 with something behind", append(testMPEG(2), "<html>"...), mpeg, nil, "between its frames"},
		{"MP3 of two minutes", testMPEG(5000), mpeg, nil, "more than 1m0s"},
		{"a page", []byte("<html>"), format{}, nil, "neither WAV nor Ogg nor MP3"},
		{"nothing", nil, format{}, nil, "empty"},
		{"too much", make([]byte, maxAudio+1), format{}, nil, "more than 4 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			audio, got, err := judge(tt.written)
			switch {
			case tt.problem != "":
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("%v; want %s", err, tt.problem)
				}
				return
			case err != nil || got != tt.want:
				t.Fatalf("%v, %v", got, err)
			case tt.audio == nil:
				tt.audio = tt.written
			}
			if !bytes.Equal(audio, tt.audio) {
				t.Errorf("%q", audio)
			}
		})
	}
}

// FuzzJudge checks that any output is either refused, or served without other contents of a container and judged the
// same again.
func FuzzJudge(f *testing.F) {
	for _, seed := range [][]byte{testWave([]byte("abcd")), testOgg(), testMPEG(2), append([]byte("ID3\x04\x00\x00\x00\x00\x00\x05<svg>"), testMPEG(1)...), {}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written []byte) {
		audio, kind, err := judge(written)
		if err != nil {
			return
		}
		if len(audio) == 0 || len(audio) > len(written)+64 {
			t.Fatalf("%d bytes of %d", len(audio), len(written))
		}
		again, sameKind, err := judge(audio)
		if err != nil || sameKind != kind || !bytes.Equal(again, audio) {
			t.Fatalf("judged again: %v, %v", sameKind, err)
		}
	})
}

// FuzzAddress checks that open refuses addresses that seal did not make.
func FuzzAddress(f *testing.F) {
	a, err := newAddresses(bytes.Repeat([]byte{1}, 32), []string{"espeak-ng"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("", "en", "Turn left.")
	f.Add(a.seal("en", "Turn left."), "de", "Links abbiegen")
	f.Fuzz(func(t *testing.T, address, language, text string) {
		if gotLanguage, gotText, ok := a.open(address); ok && a.seal(gotLanguage, gotText) != address {
			t.Fatalf("%q opens to %q, %q", address, gotLanguage, gotText)
		}
		if strings.Contains(language, "\x00") || len(language) > 8 {
			return
		}
		if sealed := a.seal(language, text); sealed != "" {
			if gotLanguage, gotText, ok := a.open(sealed); !ok || gotLanguage != language || gotText != text {
				t.Fatalf("%q opens to %q, %q, %v", sealed, gotLanguage, gotText, ok)
			}
		}
	})
}

// TestRealProgram checks the program that the documentation recommends, if it is installed.
func TestRealProgram(t *testing.T) {
	program, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Skip("espeak-ng is not installed")
	}
	for _, language := range []string{"en", "de", "fr", "nl", "es", "it"} {
		written, err := runProgram(t.Context(), []string{program, "-v", languageBlank, "--stdin", "--stdout"}, language, "In 200 m, turn left.")
		if err != nil {
			t.Fatal(err)
		}
		audio, kind, err := judge(written)
		if err != nil || kind != wave || len(audio) < 20_000 {
			t.Errorf("%s: %d bytes, %v, %v", language, len(audio), kind, err)
		}
	}
}
