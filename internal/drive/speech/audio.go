package speech

import (
	"errors"
	"fmt"
	"time"
)

// Bounds on the output of a program for one announcement.
const (
	maxAudio    = 4 << 20 // bytes
	maxDuration = time.Minute
)

// format is an audio format that browsers play.
type format struct{ ending, mediaType string }

// The formats that are served.
var (
	wave = format{".wav", "audio/wav"}
	ogg  = format{".ogg", "audio/ogg"}
	mpeg = format{".mp3", "audio/mpeg"}
)

func formats() []format { return []format{wave, ogg, mpeg} }

var errNoAudio = errors.New("it is neither WAV nor Ogg nor MP3")

// judge checks that the whole output of a program is audio, and returns the bytes to serve: the sound, without other
// contents of a container, such as pictures.
func judge(written []byte) (audio []byte, f format, err error) {
	if len(written) > maxAudio {
		return nil, format{}, fmt.Errorf("it has more than %d MiB", maxAudio>>20)
	}
	switch {
	case len(written) == 0:
		return nil, format{}, errors.New("it is empty")
	case isWave(written):
		audio, err = judgeWave(written)
		return audio, wave, err
	case isOgg(written):
		return written, ogg, judgeOgg(written)
	case isMPEG(written):
		audio, err = judgeMPEG(written)
		return audio, mpeg, err
	}
	return nil, format{}, errNoAudio
}
