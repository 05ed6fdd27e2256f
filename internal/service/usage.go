package service

import "wayside/internal/mapdata"

// storedBytes is what all feeds store, as of the newest change of each.
func (s *Service) storedBytes() float64 {
	var bytes int64
	s.catalog.EachFeed(func(f *mapdata.Feed) { bytes += f.Holds.Bytes })
	return float64(bytes)
}

// fullestFeed is how full the fullest feed is, as a part of what it may hold (D5.10).
func (s *Service) fullestFeed() float64 {
	limits, fullest := storageLimits(&s.edition.Load().config.Limits), 0.0
	s.catalog.EachFeed(func(f *mapdata.Feed) {
		if f.Builtin() {
			return // no bound holds for it
		}
		most := limits.OfFeed(f.ApprovedOnce)
		fullest = max(fullest, float64(f.Holds.Entities)/float64(most.Entities), float64(f.Holds.Bytes)/float64(most.Bytes))
	})
	return fullest
}
