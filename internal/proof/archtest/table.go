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
	"*": {never: technology}, // the packages of the districts themselves, which hold nothing but their documentation

	"ground/budget":    {ours: []string{"ground/ratelimit"}, never: transport},
	"ground/geo":       {never: technology},
	"ground/i18n":      {never: technology},
	"ground/mapdata":   {ours: []string{"ground/geo"}, never: technology},
	"ground/ratelimit": {ours: []string{"ground/mapdata"}, never: transport},
	"ground/response":  {ours: []string{"ground/sched"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"ground/review":    {ours: []string{"ground/mapdata"}, never: technology},
	"ground/safehttp":  {ours: []string{"ground/mapdata"}, never: []string{"database/sql"}},
	"ground/sched":     {never: transport},
	"ground/secret":    {ours: []string{"ground/mapdata"}, never: technology},
	"ground/signal":    {ours: []string{"ground/mapdata", "ground/geo"}, never: technology},
	"ground/telemetry": {never: []string{"database/sql"}},
	"ground/token":     {never: technology},

	"roads/basemap":                   {never: transport},
	"roads/basemap/mvt":               {never: technology},
	"roads/basemap/tilemaker":         {ours: []string{"roads/basemap", "roads/basemap/mvt", "ground/geo", "roads/osmpbf"}, never: technology},
	"roads/basemap/tileserver":        {ours: []string{"roads/basemap", "roads/basemap/sprite", "ground/mapdata", "ground/response"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"roads/basemap/sprite":            {never: technology},
	"roads/basemap/sprite/makesprite": {ours: []string{"roads/basemap/sprite"}, never: transport},
	"roads/basemap/world":             {ours: []string{"roads/basemap", "roads/basemap/mvt", "ground/geo"}, never: technology},
	"roads/basemap/world/makeworld":   {ours: []string{"roads/basemap", "roads/basemap/mvt"}, never: transport},
	"roads/car":                       {never: technology},
	"roads/cch":                       {ours: []string{"roads/graph", "roads/minheap"}, never: technology},
	"roads/geocode":                   {ours: []string{"ground/geo", "roads/graph", "roads/hours", "roads/match", "roads/osmpbf"}, never: technology},
	"roads/graph":                     {ours: []string{"ground/geo", "roads/car", "roads/minheap", "roads/osmpbf"}, never: technology},
	"roads/hours":                     {never: technology},
	"roads/match":                     {ours: []string{"ground/geo", "roads/graph"}, never: technology},
	"roads/minheap":                   {never: technology},
	"roads/osmpbf":                    {ours: []string{"ground/geo"}, never: technology},
	"roads/region":                    {ours: []string{"roads/basemap", "roads/basemap/tilemaker", "ground/geo", "roads/geocode", "ground/mapdata", "roads/car", "roads/cch", "roads/graph", "roads/match", "roads/osmpbf"}, never: transport},
	"roads/region/imports":            {ours: []string{"ground/mapdata", "roads/region"}, never: transport},
	"roads/roadtest":                  {ours: []string{"ground/geo", "roads/car", "roads/graph", "roads/osmpbf"}},

	"entities/catalog":       {ours: []string{"ground/mapdata"}, never: transport},
	"entities/consensus":     {ours: []string{"ground/mapdata", "ground/geo"}, never: transport},
	"entities/index":         {ours: []string{"ground/mapdata", "ground/geo", "entities/law", "ground/sched"}, never: transport},
	"entities/law":           {ours: []string{"ground/mapdata", "ground/geo"}, never: technology},
	"entities/live":          {ours: []string{"ground/mapdata", "ground/geo"}, never: transport},
	"entities/live/livetest": {ours: []string{"entities/live", "ground/mapdata", "ground/geo"}, never: transport},
	"entities/live/memory":   {never: transport},
	"entities/nearby":        {ours: []string{"ground/mapdata", "ground/geo", "entities/consensus", "entities/law"}, never: transport},
	"entities/stream":        {ours: []string{"ground/mapdata", "ground/geo", "ground/ratelimit", "ground/signal"}, never: transport},
	"entities/votes":         {ours: []string{"ground/geo", "ground/mapdata", "ground/signal"}, never: transport},
	"entities/wire":          {ours: []string{"ground/mapdata", "ground/geo"}, never: technology},

	"drive/alerts":                 {ours: []string{"ground/mapdata", "ground/geo"}, never: technology},
	"drive/alerts/ahead":           {ours: []string{"ground/geo", "roads/graph", "roads/match", "roads/minheap"}, never: technology},
	"drive/alerts/ahead/aheadtest": {ours: []string{"drive/alerts", "drive/alerts/ahead", "ground/geo", "ground/mapdata", "drive/nav", "drive/nav/guide", "drive/nav/session", "roads/graph", "roads/match"}, never: technology},
	"drive/nav":                    {ours: []string{"drive/nav/guide", "roads/cch", "roads/graph", "roads/match", "ground/geo"}, never: technology},
	"drive/nav/engine":             {ours: []string{"drive/nav", "drive/nav/osrm", "roads/graph", "ground/geo", "ground/safehttp"}, never: []string{"database/sql"}},
	"drive/nav/guide":              {ours: []string{"ground/geo", "ground/i18n", "roads/car", "roads/graph"}, never: technology},
	"drive/nav/osrm":               {ours: []string{"drive/nav", "drive/nav/guide", "roads/graph", "roads/match", "ground/geo", "entities/wire"}, never: technology},
	"drive/nav/scenarios":          {}, // tests alone
	"drive/nav/session":            {ours: []string{"ground/geo", "ground/mapdata", "drive/nav", "ground/ratelimit", "roads/graph", "roads/match"}, never: technology},
	"drive/nav/valhalla":           {ours: []string{"drive/nav", "drive/nav/osrm", "roads/graph", "ground/geo"}, never: technology},
	"drive/speech":                 {never: transport},
	"drive/traffic":                {ours: []string{"ground/geo", "ground/mapdata", "roads/graph", "roads/match", "ground/signal", "entities/wire"}, never: transport},

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
		"ground/mapdata",
	}, never: transport},
	"feeds/feed":                {ours: []string{"ground/mapdata", "ground/review", "ground/token", "ground/signal"}, never: transport},
	"feeds/format":              {ours: []string{"ground/mapdata", "ground/geo"}, never: technology},
	"feeds/format/alertwords":   {ours: []string{"ground/mapdata"}, never: technology},
	"feeds/format/autobahn":     {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "ground/geo"}, never: technology},
	"feeds/format/cifs":         {ours: []string{"feeds/format", "feeds/format/alertwords", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/xmldoc", "ground/geo"}, never: technology},
	"feeds/format/csv":          {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/mapping"}, never: technology},
	"feeds/format/datex2":       {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/xmldoc", "ground/geo"}, never: technology},
	"feeds/format/datex2energy": {ours: []string{"feeds/format", "feeds/format/jsondoc", "feeds/format/xmldoc", "ground/geo"}, never: technology},
	"feeds/format/digitraffic":  {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc"}, never: technology},
	"feeds/format/formattest":   {ours: []string{"feeds/format"}, never: technology},
	"feeds/format/geojson":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/mapping"}, never: technology},
	"feeds/format/geometry":     {ours: []string{"feeds/format", "feeds/format/jsondoc", "ground/geo"}, never: technology},
	"feeds/format/jsondoc":      {ours: []string{"feeds/format"}, never: technology},
	"feeds/format/mapping":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "ground/geo", "ground/mapdata"}, never: technology},
	"feeds/format/ocm":          {ours: []string{"feeds/format", "feeds/format/jsondoc", "ground/geo"}, never: technology},
	"feeds/format/ocpi":         {ours: []string{"feeds/format", "feeds/format/jsondoc", "ground/geo"}, never: technology},
	"feeds/format/open511":      {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc", "feeds/format/xmldoc"}, never: technology},
	"feeds/format/overpass":     {ours: []string{"feeds/format", "feeds/format/jsondoc", "ground/geo", "ground/mapdata"}, never: technology},
	"feeds/format/traff":        {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/xmldoc"}, never: technology},
	"feeds/format/waze":         {ours: []string{"feeds/format/alertwords", "ground/mapdata", "ground/geo"}, never: transport},
	"feeds/format/wzdx":         {ours: []string{"feeds/format", "feeds/format/geometry", "feeds/format/jsondoc"}, never: technology},
	"feeds/format/xmldoc":       {ours: []string{"feeds/format"}, never: technology},
	"feeds/ingest":              {ours: []string{"ground/mapdata", "ground/geo", "ground/sched", "ground/signal"}, never: transport},
	"feeds/openfeeds":           {ours: []string{"feeds/feed", "ground/mapdata", "ground/safehttp"}, never: transport},
	"feeds/provider/drivers":    {ours: []string{"feeds/ingest", "ground/geo", "ground/mapdata", "entities/nearby", "entities/votes"}, never: transport},
	"feeds/provider/osm":        {ours: []string{"feeds/ingest", "ground/mapdata", "roads/region"}, never: transport},
	"feeds/provider/pull":       {ours: []string{"feeds/ingest", "ground/mapdata", "feeds/provider/trial", "ground/safehttp", "ground/signal"}, never: []string{"database/sql"}},
	"feeds/provider/push":       {ours: []string{"ground/budget", "feeds/ingest", "ground/mapdata", "ground/ratelimit", "ground/token", "ground/signal"}, never: transport},
	"feeds/provider/relay":      {ours: []string{"feeds/format/waze", "feeds/ingest", "entities/live", "ground/mapdata", "ground/geo", "ground/safehttp", "ground/signal"}, never: []string{"database/sql"}},
	"feeds/provider/trial":      {ours: []string{"ground/budget", "ground/ratelimit", "feeds/bridge", "feeds/format", "feeds/ingest", "ground/mapdata", "ground/safehttp"}, never: []string{"database/sql"}},
	"feeds/refprovider":         {ours: []string{"feeds/ingest", "ground/geo"}, never: []string{"database/sql"}}, // the other end of provider/relay

	"people/account":       {ours: []string{"ground/mapdata", "ground/token", "ground/signal"}, never: transport},
	"people/apps":          {ours: []string{"ground/mapdata", "ground/review", "ground/signal"}, never: transport},
	"people/apps/appcheck": {never: []string{"database/sql"}},
	"people/audit":         {ours: []string{"ground/mapdata"}, never: transport},
	"people/mail":          {ours: []string{"ground/mapdata", "ground/i18n", "ground/signal"}, never: transport},
	"people/takedown":      {ours: []string{"ground/mapdata", "ground/review", "ground/signal"}, never: transport},

	"store":                        {ours: []string{"ground/geo", "ground/mapdata"}, never: []string{"net/http"}},
	"store/migrate":                {},
	"store/postgres":               {ours: []string{"ground/mapdata", "ground/geo", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/replica":                {ours: []string{"ground/mapdata", "ground/signal"}, never: transport},
	"store/replica/projectiontest": {ours: []string{"store/replica", "ground/mapdata", "ground/geo"}, never: transport},
	"store/sqlite":                 {ours: []string{"ground/mapdata", "ground/geo", "ground/sched", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/sqlite/sqlitetest":      {ours: []string{"store/sqlite"}, never: []string{"net/http", "database/sql"}},
	"store/storetest":              {ours: []string{"ground/mapdata", "ground/geo", "people/account", "people/apps", "feeds/feed", "store/replica", "feeds/ingest", "people/mail", "feeds/provider/pull", "feeds/provider/push", "ground/signal", "store", "people/takedown", "entities/votes"}, never: []string{"net/http"}},

	"nodes/cluster":           {ours: []string{"ground/mapdata", "ground/geo", "nodes/valkey", "ground/signal"}, never: transport},
	"nodes/cluster/forward":   {never: []string{"database/sql"}},
	"nodes/ratelimit/cluster": {ours: []string{"ground/ratelimit", "nodes/valkey"}, never: transport},
	"nodes/valkey":            {ours: []string{"ground/mapdata"}, never: transport},

	"http/apidocs":       {never: []string{"database/sql", "modernc.org/sqlite"}},
	"http/console":       {ours: []string{"http/console/words", "people/account", "people/apps", "people/audit", "feeds/feed", "ground/geo", "feeds/ingest", "ground/mapdata", "feeds/openfeeds", "feeds/provider/trial", "ground/secret", "entities/catalog", "people/takedown", "roads/region", "roads/region/imports"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"http/console/words": {ours: []string{"ground/mapdata", "ground/i18n"}, never: technology},
	"http/httpapi": {
		ours:  []string{"drive/alerts", "drive/alerts/ahead", "drive/nav", "drive/nav/session", "entities/catalog", "entities/nearby", "entities/stream", "entities/votes", "entities/wire", "feeds/provider/drivers", "ground/budget", "ground/geo", "ground/mapdata", "ground/ratelimit", "ground/response", "ground/sched", "http/apidocs", "http/console", "http/pages", "people/account", "people/apps", "roads/basemap", "roads/basemap/tileserver", "roads/basemap/world"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/accounts": {
		ours:  []string{"feeds/feed", "ground/mapdata", "ground/ratelimit", "ground/response", "http/console", "http/httpapi", "people/account", "people/apps", "people/audit"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/apps": {
		ours:  []string{"ground/mapdata", "ground/ratelimit", "ground/response", "http/httpapi", "people/account", "people/apps"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/feeds": {
		ours:  []string{"entities/nearby", "entities/wire", "feeds/feed", "feeds/provider/push", "ground/geo", "ground/mapdata", "ground/response", "http/httpapi", "people/account", "people/takedown"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/httpapitest": {ours: []string{anything}}, // the whole service
	"http/httpapi/navigation": {
		ours:  []string{"drive/alerts", "drive/nav", "drive/nav/osrm", "drive/nav/session", "drive/nav/valhalla", "drive/speech", "drive/traffic", "entities/nearby", "entities/votes", "entities/wire", "ground/geo", "ground/mapdata", "ground/ratelimit", "ground/response", "http/httpapi", "nodes/cluster/forward", "people/account", "roads/geocode", "roads/graph", "roads/hours"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/public": {
		ours:  []string{"drive/nav", "drive/nav/session", "drive/speech", "entities/catalog", "entities/nearby", "entities/stream", "entities/votes", "feeds/feed", "feeds/provider/drivers", "feeds/provider/push", "ground/geo", "ground/mapdata", "ground/ratelimit", "http/console", "http/httpapi", "http/httpapi/accounts", "http/httpapi/apps", "http/httpapi/feeds", "http/httpapi/navigation", "http/httpapi/regions", "people/account", "people/apps", "people/audit", "people/takedown", "roads/basemap", "roads/basemap/world", "roads/region", "roads/region/imports"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpapi/regions": {
		ours:  []string{"http/httpapi", "people/account", "roads/region", "roads/region/imports"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},
	"http/httpserver": {never: []string{"database/sql"}},
	"http/pages":      {ours: []string{"ground/mapdata", "ground/response"}, never: []string{"database/sql", "modernc.org/sqlite"}},

	// Composition: only cli, bench and tests import service.
	"run/cli": {ours: []string{
		"run/service", "run/config", "run/datadir", "ground/telemetry", "http/httpserver", "ground/mapdata", "people/apps", "feeds/feed", "people/audit", "people/takedown", "feeds/ingest", "feeds/provider/trial", "ground/safehttp",
		"store/migrate", "store/postgres", "store/sqlite", "feeds/refprovider", "run/demo", "entities/wire", "run/licences", "people/apps/appcheck", "roads/region", "roads/region/imports", "roads/graph", "ground/geo", "feeds/bridge", "feeds/format", "feeds/openfeeds",
	}},
	"run/config":   {ours: []string{"nodes/valkey"}, never: transport},
	"run/datadir":  {},
	"run/demo":     {ours: []string{"ground/geo", "roads/osmpbf"}}, // knows the service by its wire, and writes its extract as any tool would
	"run/licences": {never: technology},
	"run/service":  {ours: []string{anything}},

	"proof/archtest":     {},
	"proof/systemtest":   {ours: []string{"proof/testenv", "roads/roadtest", "run/datadir"}},
	"proof/systemtest/*": {}, // tests alone
	"proof/testenv":      {never: []string{"net/http", "database/sql"}},
}

// wireShapes are the packages whose structs may carry JSON tags.
var wireShapes = []string{"feeds/format", "feeds/openfeeds", "people/apps/appcheck", "roads/car", "drive/nav/engine", "drive/nav/valhalla", "roads/region", "roads/region/imports", "feeds/ingest", "http/httpapi", "http/httpapi/accounts", "http/httpapi/apps", "http/httpapi/feeds", "http/httpapi/httpapitest", "http/httpapi/navigation", "http/httpapi/regions", "http/apidocs", "roads/basemap/tileserver", "entities/wire", "entities/law", "run/cli", "run/demo", "feeds/refprovider", "proof/systemtest"}

// suites are packages that only tests and measurements of other packages use, so that rules for shipped code do not
// apply to them.
var suites = []string{"store/storetest", "feeds/format/formattest", "store/replica/projectiontest", "store/sqlite/sqlitetest", "entities/live/livetest", "roads/roadtest", "drive/alerts/ahead/aheadtest", "proof/systemtest", "proof/testenv", "http/httpapi/httpapitest"}

// clients are the packages that use the service like any other client, so that they name kinds by their ids.
var clients = []string{"run/demo", "feeds/refprovider"}

// environment is the one package that reads environment variables.
const environment = "run/cli"

// kindsFile is the one file that lists kinds (D2.2).
const kindsFile = "internal/ground/mapdata/kinds.go"

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
