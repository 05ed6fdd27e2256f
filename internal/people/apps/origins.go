package apps

import (
	"context"
	"fmt"
	"slices"

	"wayside/internal/ground/mapdata"
)

// Origins lists the origins of the pages that an account installed, hidden ones included, each once and sorted. The page in the car
// may frame only those. It opens no config.
func (s *Service) Origins(ctx context.Context, account mapdata.AccountID) ([]string, error) {
	installs, err := s.Store.Installs(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list installed apps: %w", err)
	}
	var all []string
	for i := range installs {
		l, err := s.App(installs[i].App)
		if err != nil {
			continue // it is not in the catalogue now
		}
		if origin := OriginOf(l.Version.Fields.WidgetURL); origin != "" {
			all = append(all, origin)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
