package console

import (
	"net/url"
	"strconv"

	"wayside/internal/feeds/openfeeds"
	"wayside/internal/ground/mapdata"
)

// fillFrom fills in the form of a new feed from the list of open feeds, and returns the entry; nil: the list lacks the id.
func (c *Console) fillFrom(id string, values url.Values) *openfeeds.Feed {
	open, found := openfeeds.Find(c.OpenFeeds, id)
	if !found {
		return nil
	}
	settings := open.Registration().Settings
	c.Feeds.Fit(&settings)
	values.Set("direction", string(mapdata.Pull))
	for field, text := range map[string]*string{
		"name": settings.Name, "attribution": settings.Attribution, "licence": settings.Licence, "spec_url": settings.SpecURL, "pull_url": settings.PullURL,
		"format": settings.Format, "mapping": settings.Mapping, "status_url": settings.StatusURL, "time_zone": settings.TimeZone, "charger_network": settings.ChargerNetwork,
	} {
		if text != nil {
			values.Set(field, *text)
		}
	}
	if interval := settings.PullIntervalSeconds; interval != nil {
		values.Set("pull_interval_seconds", strconv.Itoa(int(*interval)))
	}
	return open
}
