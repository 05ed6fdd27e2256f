package service

import "wayside/internal/ground/mapdata"

// storedBytes returns the bytes that all feeds store, as of the newest change of each.
func (s *Service) storedBytes() float64 {
	var bytes int64
	s.catalog.EachFeed(func(f *mapdata.Feed) { bytes += f.Holds.Bytes })
	return float64(bytes)
}

// fullestFeed returns how full the fullest feed is, as a share of its bounds (D5.10).
func (s *Service) fullestFeed() float64 {
	limits, fullest := storageLimits(&s.generation.Load().config.Limits), 0.0
	s.catalog.EachFeed(func(f *mapdata.Feed) {
		if f.Builtin() {
			return // it has no bounds
		}
		most := limits.OfFeed(f.ApprovedOnce)
		fullest = max(fullest, float64(f.Holds.Entities)/float64(most.Entities), float64(f.Holds.Bytes)/float64(most.Bytes))
	})
	return fullest
}
