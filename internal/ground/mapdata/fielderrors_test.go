package mapdata_test

import (
	"errors"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// TestCleanReason checks the texts that are accepted as the reason of a takedown, a pause or a suspension.
func TestCleanReason(t *testing.T) {
	most := strings.Repeat("ß", mapdata.MaxTakedownReason)
	for text, want := range map[string]string{
		" it lies \r\n here\t ": "it lies \n here", most: most, " " + most + "\n": most,
	} {
		if got, err := mapdata.CleanReason(text); err != nil || got != want {
			t.Errorf("%.20q: got %.20q, %v", text, got, err)
		}
	}
	for text, code := range map[string]string{
		"": "missing", " \n": "missing", most + "x": "too_long", "a\x00b": "invalid_characters", "a\x1bb": "invalid_characters",
		"a\u202eb": "invalid_characters", "a\u2028b": "invalid_characters", "a\u2066b": "invalid_characters", "a\xffb": "invalid_characters",
	} {
		_, err := mapdata.CleanReason(text)
		var invalid *mapdata.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "reason" || invalid.Fields[0].Code != code {
			t.Errorf("%.20q: got %v, want %s", text, err, code)
		}
	}
}
