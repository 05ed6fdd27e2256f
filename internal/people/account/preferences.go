package account

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// Bounds of preferences.
const (
	maxDensity    = 10
	minLead       = 0.5
	maxLead       = 2
	maxSourcesOff = 200
	maxNetworks   = 50
	maxNetwork    = 64 // bytes
)

// Preferences returns the account's preferences; a field that was never set is nil.
func (s *Service) Preferences(ctx context.Context, id mapdata.AccountID) (*mapdata.Preferences, error) {
	p, err := s.store.Preferences(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read preferences: %w", err)
	}
	return p, nil
}

// SetPreferences replaces all preferences of the account. It fails with a mapdata.InvalidError that lists every invalid
// field.
func (s *Service) SetPreferences(ctx context.Context, id mapdata.AccountID, p *mapdata.Preferences) error {
	if err := CheckPreferences(p); err != nil {
		return err
	}
	if err := s.store.SetPreferences(ctx, id, p); err != nil {
		return fmt.Errorf("store preferences: %w", err)
	}
	return nil
}

// CheckPreferences validates preferences. Its mapdata.InvalidError lists every invalid field.
func CheckPreferences(p *mapdata.Preferences) error {
	c := fieldErrors{}
	c.oneOf("units", p.Units, "metric", "imperial")
	c.oneOf("theme", p.Theme, "day", "night", "auto")
	c.oneOf("language", p.Language, "en", "de", "fr", "nl", "es", "it", "ar")
	c.inRange("density", p.Density, 0, maxDensity)
	c.inRange("lead", p.Lead, minLead, maxLead)
	c.each("sources_off", p.SourcesOff, maxSourcesOff, "must be ids of sources, such as incidents", func(id string) bool {
		_, feed := mapdata.SourceID(id).FeedID()
		return feed || id == string(mapdata.Incidents)
	})
	c.each("kinds_off", p.KindsOff, mapdata.KindCount, "must be ids of kinds; GET /v2/kinds lists them", func(id string) bool {
		_, known := mapdata.ParseKind(id)
		return known
	})
	c.each("networks", p.Networks, maxNetworks, "must be ids of charger networks, each of 1 to 64 bytes of UTF-8", func(id string) bool {
		// A comma separates networks in a query.
		return id != "" && len(id) <= maxNetwork && utf8.ValidString(id) && !strings.Contains(id, ",") && id == clean(id, maxNetwork)
	})
	return c.Err()
}

// fieldErrors collects the errors in preferences.
type fieldErrors struct{ mapdata.FieldErrors }

func (c *fieldErrors) oneOf(field string, value *string, known ...string) {
	if value != nil && !slices.Contains(known, *value) {
		last := len(known) - 1
		c.Add(field, "invalid_"+field, "must be "+strings.Join(known[:last], ", ")+" or "+known[last])
	}
}

func (c *fieldErrors) inRange(field string, value *float64, low, high float64) {
	if value != nil && !(*value >= low && *value <= high) { // rejects NaN too
		c.Add(field, "out_of_range", "must be between "+number(low)+" and "+number(high))
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (c *fieldErrors) each(field string, list []string, most int, message string, good func(string) bool) {
	if len(list) > most {
		c.Add(field, "too_many", "must not name more than "+strconv.Itoa(most))
		return
	}
	for i, id := range list {
		if !good(id) {
			c.Add(field, "invalid_"+field, message)
			return
		}
		if slices.Contains(list[:i], id) {
			c.Add(field, "repeated", "must name each but once")
			return
		}
	}
}

// ReviewEmails reports whether the account gets e-mails about feeds that wait for review, should it be a curator's.
func (s *Service) ReviewEmails(ctx context.Context, id mapdata.AccountID) (bool, error) {
	on, err := s.store.ReviewEmails(ctx, id)
	if err != nil {
		return false, fmt.Errorf("read e-mails about reviews: %w", err)
	}
	return on, nil
}

// SetReviewEmails turns e-mails about waiting feeds on or off. It fails with mapdata.ErrForbidden for an account that
// may not review.
func (s *Service) SetReviewEmails(ctx context.Context, a *mapdata.Account, on bool) error {
	if !a.MayReview() {
		return mapdata.Describe(mapdata.ErrForbidden, "Only curators get e-mails about feeds that wait for review.")
	}
	if err := s.store.SetReviewEmails(ctx, a.ID, on); err != nil {
		return fmt.Errorf("set e-mails about reviews: %w", err)
	}
	return nil
}
