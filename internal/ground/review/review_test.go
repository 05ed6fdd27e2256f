package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/review"
)

func TestCleanNote(t *testing.T) {
	tests := []struct{ name, text, want, code string }{
		{"trimmed", " Too few.\r\nAdd more. ", "Too few.\nAdd more.", ""},
		{"empty", " ", "", "missing"},
		{"the longest", strings.Repeat("ä", 2000), strings.Repeat("ä", 2000), ""},
		{"too long", strings.Repeat("ä", 2001), strings.Repeat("ä", 2001), "too_long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := review.CleanNote(tt.text)
			var invalid *mapdata.InvalidError
			if errors.As(err, &invalid) != (tt.code != "") || tt.code != "" && invalid.Fields[0].Code != tt.code {
				t.Errorf("%v, want %q", err, tt.code)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckCurator(t *testing.T) {
	tests := []struct {
		name string
		by   mapdata.Actor
		may  bool
	}{
		{"a guest", mapdata.Actor{}, false},
		{"a driver", mapdata.ActorOf(&mapdata.Account{Role: mapdata.Driver}), false},
		{"a curator", mapdata.ActorOf(&mapdata.Account{Role: mapdata.Curator}), true},
		{"an admin", mapdata.ActorOf(&mapdata.Account{Role: mapdata.Admin}), true},
		{"the operator", mapdata.Operator(), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := review.CheckCurator(tt.by, "Only curators.")
			if tt.may != (err == nil) || !tt.may && (!errors.Is(err, mapdata.ErrForbidden) || !strings.Contains(err.Error(), "Only curators.")) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDecide decides with a store that keeps one text, which wraps the errors of edits as real ones do.
func TestDecide(t *testing.T) {
	stored := "pending"
	update := func(_ context.Context, _ int, edit func(*string) (mapdata.Side, error)) (*string, error) {
		v := stored
		if _, err := edit(&v); err != nil {
			return nil, fmt.Errorf("update: %w", err)
		}
		stored = v
		return &v, nil
	}
	refused := errors.New("refused")
	tests := []struct {
		name    string
		edit    func(*string) (mapdata.Side, error)
		want    string
		changed bool
		err     error
	}{
		{"a decision", func(v *string) (mapdata.Side, error) { *v = "approved"; return mapdata.Side{}, nil }, "approved", true, nil},
		{"the same again", func(*string) (mapdata.Side, error) { return mapdata.Side{}, review.ErrDecided }, "approved", false, nil},
		{"a refusal", func(v *string) (mapdata.Side, error) { *v = "lost"; return mapdata.Side{}, refused }, "", false, refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, changed, err := review.Decide(t.Context(), update, 1, tt.edit)
			if !errors.Is(err, tt.err) || changed != tt.changed || tt.err == nil && *got != tt.want {
				t.Errorf("%v, %v, %v; want %q, %v, %v", got, changed, err, tt.want, tt.changed, tt.err)
			}
			if stored != "approved" {
				t.Errorf("%q is stored", stored)
			}
		})
	}
}
