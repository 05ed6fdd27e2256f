package region

import (
	"context"

	"wayside/internal/roads/geocode"
)

// makeSearch makes the place search.
func makeSearch(ctx context.Context, s *source) ([]content, error) {
	built, err := geocode.Build(ctx, s.files, s.graph, s.index)
	if err != nil {
		return nil, err
	}
	s.about.Places, s.about.Addresses = int64(built.Places), int64(built.Addresses)
	for reason, n := range built.LeftOut {
		s.leave(reason, n)
	}
	return contents(built.Sections), nil
}
