package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"wayside/internal/entities/wire"
	"wayside/internal/ground/response"
)

// Timestamp is a time in JSON; the zero time is null.
type Timestamp time.Time

// MarshalJSON writes the time in the API's only layout.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + time.Time(t).UTC().Format(wire.TimeLayout) + `"`), nil
}

// TimestampOf converts milliseconds since 1970; 0 is null.
func TimestampOf(ms int64) Timestamp {
	if ms == 0 {
		return Timestamp{}
	}
	return Timestamp(time.UnixMilli(ms))
}

// WriteJSON encodes v to a buffer first, so that a failing encode never yields half a response, and writes it.
func WriteJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	response.Write(w, r, status, "application/json", buf.Bytes())
	return nil
}
