package telemetry

import (
	"io"
	"log/slog"
)

// NewLog returns a structured log that writes to w: text for people at a terminal, JSON for programs. The level is one of slog's
// names; any other text means info.
func NewLog(w io.Writer, level string, terminal bool) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: least}
	if terminal {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
