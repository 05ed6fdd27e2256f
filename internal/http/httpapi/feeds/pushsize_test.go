package feeds

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestSizeOfPushes checks that a batch has at most 16 MiB unpacked, and is refused by a length of more than 17 MiB before it is read.
func TestSizeOfPushes(t *testing.T) {
	for name, tt := range map[string]struct {
		sent, length int64
		want         bool
	}{
		"16 MiB":                     {16 << 20, 16 << 20, true},
		"more":                       {16<<20 + 1, -1, false},
		"a length of 17 MiB":         {1, 17 << 20, true},
		"a length of more":           {1, 17<<20 + 1, false},
		"a length of ten times more": {1, 170 << 20, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", io.LimitReader(zeros{}, tt.sent))
		r.ContentLength = tt.length
		_, err := io.Copy(io.Discard, newPushBody(httptest.NewRecorder(), r, false))
		if got := !errors.Is(err, mapdata.ErrTooLarge); got != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
