// Package public composes the API of the public address: the core (httpapi), and the leaves beside this package, which give their
// routes to the core's one table. The running service, the harness of the tests and the documents use the same composition.
package public

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/accounts"
	"wayside/internal/http/httpapi/apps"
	"wayside/internal/http/httpapi/feeds"
	"wayside/internal/http/httpapi/navigation"
	"wayside/internal/http/httpapi/regions"
	peopleapps "wayside/internal/people/apps"
)

// New returns the handler of the public address.
func New(d Deps) http.Handler {
	ways := navigation.NewWays(d.Drives, d.Nodes)
	return httpapi.New(httpapi.Deps{
		BaseURL: d.BaseURL, TrustedProxies: d.TrustedProxies, Home: d.Home, Hosts: d.Hosts, CORSOrigins: d.CORSOrigins,
		Now: d.Now, Log: d.Log, Observe: d.Observe, Ready: d.Ready, Loaded: d.Loaded, Nearby: d.Nearby, Sources: d.Sources,
		Accounts: d.Accounts, Streams: d.Streams, Votes: d.Votes, Reports: d.Reports, Apps: d.Apps, Navigation: d.Navigation,
		Ways: ways, NodeRequests: d.NodeRequests, Revisions: d.Revisions, AwaitRoads: d.AwaitRoads, Incidents: d.Incidents,
		Console: d.Console, Overlay: d.Overlay, Scripts: d.Scripts, Version: d.Version, PrimaryNetwork: d.PrimaryNetwork,
		BaseMap: d.BaseMap, World: d.World, Places: d.Places, Demo: d.Demo, StreamWriteTimeout: d.StreamWriteTimeout,
		Limits: d.Limits, Buckets: d.Buckets, Memory: d.Memory, Work: d.Work, Deprecated: d.Deprecated, Newest: d.Newest,
	}, leaves(d, ways)...)
}

// Table returns the routes of the described API and of the pages, also those that a service does not offer.
func Table() []httpapi.Route { return httpapi.Table(leaves(Deps{}, navigation.NewWays(nil, nil))...) }

// leaves returns the parts of the API.
func leaves(d Deps, ways *navigation.Ways) []httpapi.Leaf {
	return []httpapi.Leaf{
		feeds.New(feeds.Deps{
			Feeds: d.Feeds, Pushes: d.Pushes, Takedowns: d.Takedowns, Nearby: d.Nearby, Entities: d.Entities, Passkeys: d.Passkeys,
		}),
		navigation.New(navigation.Deps{
			Engine: d.Engine, Navigation: d.Navigation, Drives: d.Drives, Ways: ways, Nodes: d.Nodes, Conditions: d.Conditions,
			Geocoder: d.Geocoder, Speech: d.Speech, Nearby: d.Nearby, Votes: d.Votes, Searches: d.Searches,
		}),
		regions.New(regions.Deps{
			Regions: d.Regions, Imports: d.Imports, Passkeys: d.Passkeys,
		}),
		accounts.New(accounts.Deps{
			Accounts: d.Accounts, Passkeys: d.Passkeys, Audit: d.Audit, Feeds: d.Feeds, Apps: d.Apps, Shapes: shapes(d),
		}),
		apps.New(apps.Deps{
			Apps: d.Apps, Accounts: d.Accounts, Passkeys: d.Passkeys,
		}),
	}
}

// shapes returns how an account's export encodes what other leaves own.
func shapes(d Deps) accounts.Shapes {
	return accounts.Shapes{
		Feed: feeds.NewFeedJSON,
		AppVersion: func(app *mapdata.App, v *mapdata.AppVersion) any {
			return apps.ExportVersion(d.BaseURL, app, v)
		},
		InstalledApp: func(i *peopleapps.Installed) any { return apps.ExportInstalled(d.BaseURL, i) },
		Vote:         httpapi.VoteName,
	}
}
