package bridge

import (
	"maps"
	"slices"

	"wayside/internal/feeds/format"
	"wayside/internal/ground/mapdata"
)

// maxWord is how long words and ids are kept, in characters.
const maxWord = 64

// Skips counts the items that became no rows, by reason.
type Skips struct {
	reasons map[format.Reason]*Skipped
	total   int
}

// Skipped describes the items that were skipped for one reason.
type Skipped struct {
	Reason   format.Reason
	Items    int
	Words    map[string]int // foreign words, with how many items had each
	Examples []string       // ids
}

// Add counts a skipped item.
func (s *Skips) Add(item format.Item) {
	if s.reasons == nil {
		s.reasons = make(map[format.Reason]*Skipped)
	}
	one := s.reasons[item.Skip]
	if one == nil {
		one = &Skipped{Reason: item.Skip, Words: make(map[string]int)}
		s.reasons[item.Skip] = one
	}
	s.total++
	one.Items++
	if word := short(item.Word); word != "" {
		if _, known := one.Words[word]; known || len(one.Words) < mapdata.MaxSkipWords {
			one.Words[word]++
		}
	}
	if len(one.Examples) == mapdata.MaxSkipExamples {
		return
	}
	if id := short(item.ID); id != "" && !slices.Contains(one.Examples, id) {
		one.Examples = append(one.Examples, id)
	}
}

// Total returns the number of skipped items.
func (s *Skips) Total() int { return s.total }

// List returns the skipped items by reason, in the order of reasons.
func (s *Skips) List() []Skipped {
	var list []Skipped
	for _, reason := range format.Reasons() {
		if one := s.reasons[reason]; one != nil {
			copied := *one
			copied.Words, copied.Examples = maps.Clone(one.Words), slices.Clone(one.Examples)
			list = append(list, copied)
		}
	}
	return list
}

// Reset clears the counts.
func (s *Skips) Reset() { *s = Skips{} }

// short cuts a foreign word so that it fits on a page.
func short(text string) string {
	text = format.Text(text)
	if len(text) <= maxWord {
		return text
	}
	characters := 0
	for i := range text {
		if characters == maxWord {
			return text[:i]
		}
		characters++
	}
	return text
}
