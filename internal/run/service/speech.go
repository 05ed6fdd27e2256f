package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"wayside/internal/drive/speech"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// openSpeech makes the speaker of announcements, if the operator names a program.
func (s *Service) openSpeech() (err error) {
	command := s.config.Speech.Command
	if len(command) == 0 || s.config.Navigation.Region == config.RegionOff {
		return nil
	}
	key, err := keyFor(s.config, "speech")
	if err != nil {
		return err
	}
	s.speaker, err = speech.Open(speech.Options{
		Command: command, Folder: filepath.Join(s.config.DataDir, datadir.SpeechFolder), Key: key, Log: s.log, Now: s.now,
	})
	return err
}

// CheckSpeech makes the operator's program speak a sentence, and describes the result.
func CheckSpeech(ctx context.Context, cfg config.Speech) (string, error) {
	began := time.Now()
	made, err := speech.Try(ctx, cfg.Command)
	if failed := new(speech.ProgramError); errors.As(err, &failed) && failed.Complaint != "" {
		return "", fmt.Errorf("%w: %s", err, failed.Complaint)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s spoke a sentence in %d ms (%s, %d KiB)", filepath.Base(cfg.Command[0]), time.Since(began).Milliseconds(), made.MediaType, made.Bytes>>10), nil
}
