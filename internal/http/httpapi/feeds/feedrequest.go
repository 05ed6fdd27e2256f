package feeds

import (
	"wayside/internal/feeds/feed"
	"wayside/internal/http/httpapi"
)

// settings reads the fields that registrations and changes have in common.
func settings(f *httpapi.Fields) feed.Settings {
	return feed.Settings{
		Name: f.Optional("name"), Description: f.Optional("description"), Visibility: f.Optional("visibility"),
		Attribution: f.Optional("attribution"), Licence: f.Optional("licence"),
		LayerName: f.Optional("layer_name"), SpecURL: f.Optional("spec_url"),
		PullURL: f.Optional("pull_url"), PullAuthHeader: f.Optional("pull_auth_header"),
		PullIntervalSeconds: f.Number("pull_interval_seconds"),
		Format:              f.Optional("format"), Mapping: f.Object("mapping"), StatusURL: f.Optional("status_url"), TimeZone: f.Optional("time_zone"),
		ChargerNetwork: f.Optional("charger_network"),
	}
}

// patch reads the fields of a change, where null is a value: it clears a field that may be empty, and is an error
// elsewhere.
func patch(f *httpapi.Fields) feed.Patch {
	cleared := map[string]bool{}
	for _, name := range []string{
		"description", "attribution", "licence", "layer_name", "spec_url", "pull_auth_header",
		"format", "mapping", "status_url", "time_zone", "charger_network",
	} {
		cleared[name] = f.TakeNull(name)
	}
	for _, name := range []string{"name", "visibility", "active", "pull_url", "pull_interval_seconds"} {
		if f.TakeNull(name) {
			f.AddError(name, "invalid_type", "must not be null")
		}
	}
	p := feed.Patch{Settings: settings(f), Active: f.Boolean("active"), ClearAuthHeader: cleared["pull_auth_header"]}
	for name, field := range map[string]**string{
		"description": &p.Description, "attribution": &p.Attribution, "licence": &p.Licence,
		"layer_name": &p.LayerName, "spec_url": &p.SpecURL,
		"format": &p.Format, "mapping": &p.Mapping, "status_url": &p.StatusURL, "time_zone": &p.TimeZone, "charger_network": &p.ChargerNetwork,
	} {
		if cleared[name] {
			*field = new(string)
		}
	}
	return p
}
