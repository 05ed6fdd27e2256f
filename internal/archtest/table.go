package archtest

import "regexp"

// rule lists the imports that one package may use.
type rule struct {
	ours  []string // packages of this module below internal/ that it may import; anything stands for all of them
	never []string // packages of other modules that it must not import, including those below them
}

const anything = "*"

// Groups of packages of other modules.
var (
	technology = []string{"net/http", "database/sql", "os", "modernc.org/sqlite"}
	transport  = []string{"net/http", "database/sql", "modernc.org/sqlite"}
)

// rules lists the imports of every package below internal/. A new package must be added here first.
var rules = map[string]rule{
	"geo":     {never: technology},
	"token":   {never: technology},
	"i18n":    {never: technology},
	"sched":   {never: transport},
	"secret":  {ours: []string{"mapdata"}, never: technology},
	"mapdata": {ours: []string{"geo"}, never: technology},
	"signal":  {ours: []string{"mapdata", "geo"}, never: technology},

	"feeds/ingest":       {ours: []string{"mapdata", "geo", "sched", "signal"}, never: transport},
	"entities/consensus": {ours: []string{"mapdata", "geo"}, never: transport},
	"entities/wire":      {ours: []string{"mapdata", "geo"}, never: technology},
	"entities/index":     {ours: []string{"mapdata", "geo", "entities/law", "sched"}, never: transport},
	"drive/alerts":       {ours: []string{"mapdata", "geo"}, never: technology},
	"entities/law":       {ours: []string{"mapdata", "geo"}, never: technology},

	"drive/alerts/ahead/aheadtest": {ours: []string{"drive/alerts", "drive/alerts/ahead", "geo", "mapdata", "drive/nav", "drive/nav/guide", "drive/nav/session", "roads/graph", "roads/match"}, never: technology},
	"drive/alerts/ahead":           {ours: []string{"geo", "roads/graph", "roads/match", "roads/minheap"}, never: technology},

	"entities/catalog": {ours: []string{"mapdata"}, never: transport},
	"entities/votes":   {ours: []string{"geo", "mapdata", "signal"}, never: transport},
	"entities/live":    {ours: []string{"mapdata", "geo"}, never: transport},

	"roads/car": {never: technology},

	// One line per format, because several are added at a time.
	"feeds/bridge": {ours: []string{
		"feeds/format",
		"feeds/format/autobahn",
		"feeds/format/cifs",
		"feeds/format/csv",
		"feeds/format/datex2",
		"feeds/format/datex2energy",
		"feeds/format/digitraffic",
		"feeds/format/geojson",
		"feeds/format/mapping",
		"feeds/format/ocm",
		"feeds/format/ocpi",
		"feeds/format/open511",
		"feeds/format/overpass",
		"feeds/format/traff",
		"feeds/format/wzdx",
		"feeds/ingest",
		"mapdata",
	}, never: transport},
	"feeds/format":              {ours: []string{"mapdata", "geo"}, never: technology},
	"feeds/format/jsondoc":      {ours: []string{"feeds/format"}, never: technology},
	"feeds/format/formattest":   {ours: []string{"feeds/format"}, never: technology},
	"feeds/format/geometry":     {ours: []string{"feeds/format", "feeds/format/jsondoc", "geo"}, never: technology},
	"feeds/format/xmldoc":       {ours: []string{"feeds/format"}, never: technology},
	"feeds/format/wzdx":         {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc"}, never: technology},
	"feeds/format/datex2":       {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/xmldoc", "geo"}, never: technology},
	"feeds/format/ocpi":         {ours: []string{"feeds/format", "feeds/format/jsondoc", "geo"}, never: technology},
	"feeds/format/datex2energy": {ours: []string{"feeds/format", "feeds/format/jsondoc", "feeds/format/xmldoc", "geo"}, never: technology},
	"feeds/format/open511":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/xmldoc"}, never: technology},
	"feeds/format/cifs":         {ours: []string{"feeds/format", "feeds/format/alertwords", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/xmldoc", "geo"}, never: technology},
	"feeds/format/traff":        {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/xmldoc"}, never: technology},
	"feeds/format/mapping":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "geo", "mapdata"}, never: technology},
	"feeds/format/geojson":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/mapping"}, never: technology},
	"feeds/format/csv":          {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/mapping"}, never: technology},
	"feeds/format/autobahn":     {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "geo"}, never: technology},
	"feeds/format/ocm":          {ours: []string{"feeds/format", "feeds/format/jsondoc", "geo"}, never: technology},
	"feeds/format/overpass":     {ours: []string{"feeds/format", "feeds/format/jsondoc", "geo", "mapdata"}, never: technology},
	"feeds/format/alertwords":   {ours: []string{"mapdata"}, never: technology},
	"feeds/format/waze":         {ours: []string{"feeds/format/alertwords", "mapdata", "geo"}, never: transport},
	"safehttp":                  {ours: []string{"mapdata"}, never: []string{"database/sql"}},
	"feeds/provider/trial":      {ours: []string{"budget", "ratelimit", "feeds/bridge", "feeds/format", "feeds/ingest", "mapdata", "safehttp"}, never: []string{"database/sql"}},
	"feeds/provider/pull":       {ours: []string{"feeds/ingest", "mapdata", "feeds/provider/trial", "safehttp", "signal"}, never: []string{"database/sql"}},
	"feeds/provider/relay":      {ours: []string{"feeds/format/waze", "feeds/ingest", "entities/live", "mapdata", "geo", "safehttp", "signal"}, never: []string{"database/sql"}},
	"feeds/provider/osm":        {ours: []string{"feeds/ingest", "mapdata", "roads/region"}, never: transport},
	"feeds/provider/push":       {ours: []string{"budget", "feeds/ingest", "mapdata", "ratelimit", "token", "signal"}, never: transport},
	"feeds/format/digitraffic":  {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc"}, never: technology},

	"feeds/provider/drivers": {ours: []string{"feeds/ingest", "mapdata", "entities/nearby", "entities/votes"}, never: transport},

	"store/migrate":           {},
	"store":                   {ours: []string{"geo", "mapdata"}, never: []string{"net/http"}},
	"store/sqlite":            {ours: []string{"mapdata", "geo", "sched", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/postgres":          {ours: []string{"mapdata", "geo", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/storetest":         {ours: []string{"mapdata", "geo", "people/account", "people/apps", "feeds/feed", "store/replica", "feeds/ingest", "people/mail", "feeds/provider/pull", "feeds/provider/push", "signal", "store", "people/takedown", "entities/votes"}, never: []string{"net/http"}},
	"store/sqlite/sqlitetest": {ours: []string{"store/sqlite"}, never: []string{"net/http", "database/sql"}},
	"entities/live/livetest":  {ours: []string{"entities/live", "mapdata", "geo"}, never: transport},
	"entities/live/memory":    {never: transport},
	"nodes/valkey":            {ours: []string{"mapdata"}, never: transport},

	"store/replica":                {ours: []string{"mapdata", "signal"}, never: transport},
	"store/replica/projectiontest": {ours: []string{"store/replica", "mapdata", "geo"}, never: transport},
	"entities/nearby":              {ours: []string{"mapdata", "geo", "entities/consensus", "entities/law"}, never: transport},
	"entities/stream":              {ours: []string{"mapdata", "geo", "ratelimit", "signal"}, never: transport},

	"nodes/cluster/forward": {never: []string{"database/sql"}},

	"nodes/cluster": {ours: []string{"mapdata", "geo", "nodes/valkey", "signal"}, never: transport},

	"feeds/openfeeds":      {ours: []string{"feeds/feed", "mapdata", "safehttp"}, never: transport},
	"feeds/feed":           {ours: []string{"mapdata", "token", "signal"}, never: transport},
	"people/apps/appcheck": {never: []string{"database/sql"}},
	"people/apps":          {ours: []string{"feeds/feed", "mapdata", "signal"}, never: transport},
	"people/audit":         {ours: []string{"mapdata"}, never: transport},
	"people/takedown":      {ours: []string{"feeds/feed", "mapdata", "signal"}, never: transport},
	"people/account":       {ours: []string{"mapdata", "token", "signal"}, never: transport},
	"people/mail":          {ours: []string{"mapdata", "i18n", "signal"}, never: transport},

	"roads/basemap":                 {never: transport},
	"roads/basemap/mvt":             {never: technology},
	"roads/basemap/world":           {ours: []string{"roads/basemap", "roads/basemap/mvt", "geo"}, never: technology},
	"roads/basemap/world/makeworld": {ours: []string{"roads/basemap", "roads/basemap/mvt"}, never: transport},
	"roads/basemap/tilemaker":       {ours: []string{"roads/basemap", "roads/basemap/mvt", "geo", "roads/osmpbf"}, never: technology},
	"roads/basemap/tileserver":      {ours: []string{"roads/basemap", "mapdata", "response"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"response":                      {ours: []string{"sched"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"http/pages":                    {ours: []string{"mapdata", "response"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"http/apidocs":                  {never: []string{"database/sql", "modernc.org/sqlite"}},

	"drive/traffic": {ours: []string{"geo", "mapdata", "roads/graph", "roads/match", "signal", "entities/wire"}, never: transport},

	// The road network depends on no other package of this module but geometry.
	"roads/osmpbf":   {ours: []string{"geo"}, never: technology},
	"roads/graph":    {ours: []string{"geo", "roads/car", "roads/minheap", "roads/osmpbf"}, never: technology},
	"roads/roadtest": {ours: []string{"geo", "roads/car", "roads/graph", "roads/osmpbf"}},
	"roads/minheap":  {never: technology},
	"roads/match":    {ours: []string{"geo", "roads/graph"}, never: technology},
	"roads/cch":      {ours: []string{"roads/graph", "roads/minheap"}, never: technology},

	"drive/nav/scenarios": {}, // tests alone
	"drive/nav/guide":     {ours: []string{"geo", "i18n", "roads/car", "roads/graph"}, never: technology},
	"drive/nav":           {ours: []string{"drive/nav/guide", "roads/cch", "roads/graph", "roads/match", "geo"}, never: technology},
	"drive/nav/session":   {ours: []string{"geo", "mapdata", "drive/nav", "ratelimit", "roads/graph", "roads/match"}, never: technology},
	"drive/nav/osrm":      {ours: []string{"drive/nav", "drive/nav/guide", "roads/graph", "roads/match", "geo", "entities/wire"}, never: technology},
	"drive/nav/engine":    {ours: []string{"drive/nav", "drive/nav/osrm", "roads/graph", "geo", "safehttp"}, never: []string{"database/sql"}},
	"drive/nav/valhalla":  {ours: []string{"drive/nav", "drive/nav/osrm", "roads/graph", "geo"}, never: technology},

	"drive/speech":  {never: transport},
	"roads/geocode": {ours: []string{"geo", "roads/graph", "roads/match", "roads/osmpbf"}, never: technology},

	"roads/region": {ours: []string{"roads/basemap", "roads/basemap/tilemaker", "geo", "roads/geocode", "mapdata", "roads/car", "roads/cch", "roads/graph", "roads/match", "roads/osmpbf"}, never: transport},

	"roads/region/imports": {ours: []string{"mapdata", "roads/region"}, never: transport},

	"ratelimit":               {ours: []string{"mapdata"}, never: transport},
	"budget":                  {ours: []string{"ratelimit"}, never: transport},
	"nodes/ratelimit/cluster": {ours: []string{"ratelimit", "nodes/valkey"}, never: transport},
	"http/console/words":      {ours: []string{"mapdata", "i18n"}, never: technology},
	"http/console":            {ours: []string{"http/console/words", "people/account", "people/apps", "people/audit", "feeds/feed", "geo", "feeds/ingest", "mapdata", "feeds/openfeeds", "feeds/provider/trial", "secret", "entities/catalog", "people/takedown", "roads/region", "roads/region/imports"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"http/httpapi": {
		ours:  []string{"people/account", "people/apps", "budget", "http/console", "drive/alerts", "drive/alerts/ahead", "feeds/feed", "entities/nearby", "roads/geocode", "drive/nav", "drive/nav/osrm", "drive/nav/session", "drive/nav/valhalla", "roads/graph", "drive/traffic", "feeds/provider/drivers", "feeds/provider/push", "entities/catalog", "entities/stream", "people/takedown", "people/audit", "entities/votes", "mapdata", "geo", "ratelimit", "roads/basemap", "roads/basemap/tileserver", "roads/basemap/world", "entities/wire", "response", "http/pages", "http/apidocs", "roads/region", "roads/region/imports", "sched", "drive/speech", "nodes/cluster/forward"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},

	"testenv":         {never: []string{"net/http", "database/sql"}},
	"run/config":      {ours: []string{"nodes/valkey"}, never: transport},
	"telemetry":       {never: []string{"database/sql"}},
	"archtest":        {},
	"run/datadir":     {},
	"run/licences":    {never: technology},
	"http/httpserver": {never: []string{"database/sql"}},

	// Composition: only cli, bench and tests import service.
	"run/service": {ours: []string{anything}},
	"run/cli": {ours: []string{
		"run/service", "run/config", "run/datadir", "telemetry", "http/httpserver", "mapdata", "people/apps", "feeds/feed", "people/audit", "people/takedown", "feeds/ingest", "feeds/provider/trial", "safehttp",
		"store/migrate", "store/postgres", "store/sqlite", "feeds/refprovider", "run/demo", "entities/wire", "run/licences", "people/apps/appcheck", "roads/region", "roads/region/imports", "roads/graph", "geo", "feeds/bridge", "feeds/format", "feeds/openfeeds",
	}},

	"feeds/refprovider": {ours: []string{"feeds/ingest", "geo"}, never: []string{"database/sql"}}, // the other end of provider/relay

	"run/demo": {ours: []string{"geo", "roads/osmpbf"}}, // knows the service by its wire, and writes its extract as any tool would
}

// wireShapes are the packages whose structs may carry JSON tags.
var wireShapes = []string{"feeds/format", "feeds/openfeeds", "people/apps/appcheck", "roads/car", "drive/nav/engine", "drive/nav/valhalla", "roads/region", "roads/region/imports", "feeds/ingest", "http/httpapi", "http/apidocs", "roads/basemap/tileserver", "entities/wire", "entities/law", "run/cli", "run/demo", "feeds/refprovider"}

// suites are packages that only tests and measurements of other packages use, so that rules for shipped code do not
// apply to them.
var suites = []string{"store/storetest", "feeds/format/formattest", "store/replica/projectiontest", "store/sqlite/sqlitetest", "entities/live/livetest", "roads/roadtest", "drive/alerts/ahead/aheadtest", "testenv"}

// clients are the packages that use the service like any other client, so that they name kinds by their ids.
var clients = []string{"run/demo", "feeds/refprovider"}

// environment is the one package that reads environment variables.
const environment = "run/cli"

// kindsFile is the one file that lists kinds (D2.2).
const kindsFile = "internal/mapdata/kinds.go"

// mappings are the files that map foreign words to kinds (D8.5): they name kinds, and list none.
var mappings = []string{"internal/feeds/format/kinds.go", "internal/feeds/format/alertwords/alertwords.go", "internal/feeds/format/waze/vocabulary.go"}

// Limits of sizes, which keep a file and a function readable.
const (
	longestFile     = 600
	longestFunction = 80
)

// vague are package names that do not describe the content.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "manager", "base", "shared"}

// riddles are words with which a comment does not state who does what.
var riddles = regexp.MustCompile(`(?i)\b(whoever|nobody\s+is\s+told|says?\s+so)\b`)
