package archtest

// rule is what one package may use.
type rule struct {
	ours  []string // packages of ours below internal/ that it may import; anything is every one of them
	never []string // others' packages that it must not import, with what lies below them
}

const anything = "*"

// Groups of packages of others.
var (
	technology = []string{"net/http", "database/sql", "os", "modernc.org/sqlite"}
	transport  = []string{"net/http", "database/sql", "modernc.org/sqlite"}
)

// rules says of every package below internal/ what it may import: a package that is not here must be drawn first.
var rules = map[string]rule{
	"geo":     {never: technology},
	"nearest": {never: technology},
	"token":   {never: technology},
	"wording": {never: technology},
	"secret":  {ours: []string{"mapdata"}, never: technology},
	"mapdata": {ours: []string{"geo"}, never: technology},

	"ingest":    {ours: []string{"mapdata", "geo"}, never: transport},
	"consensus": {ours: []string{"mapdata", "geo", "nearest"}, never: transport},
	"index":     {ours: []string{"mapdata", "geo", "nearest"}, never: transport},
	"ahead":     {ours: []string{"mapdata", "geo"}, never: technology},
	"law":       {ours: []string{"mapdata", "geo"}, never: technology},
	"source":    {ours: []string{"mapdata", "geo"}, never: transport},
	"live":      {ours: []string{"mapdata", "geo"}, never: transport},

	"safehttp":       {ours: []string{"mapdata"}, never: []string{"database/sql"}},
	"provider/pull":  {ours: []string{"ingest", "live", "mapdata", "geo", "safehttp"}, never: []string{"database/sql"}},
	"provider/relay": {ours: []string{"ingest", "live", "mapdata", "geo", "safehttp"}, never: []string{"database/sql"}},
	"provider/push":  {ours: []string{"ingest", "mapdata", "ratelimit", "token"}, never: transport},

	"store/migrate":   {},
	"store":           {ours: []string{"mapdata"}, never: []string{"net/http"}},
	"store/sqlite":    {ours: []string{"mapdata", "geo", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/postgres":  {ours: []string{"mapdata", "geo", "store", "store/migrate"}, never: []string{"net/http"}},
	"store/storetest": {ours: []string{"mapdata", "geo", "account", "feed", "follow", "ingest", "mail", "provider/pull", "provider/push", "store", "vote"}, never: []string{"net/http"}},
	"live/livetest":   {ours: []string{"live", "mapdata", "geo"}, never: transport},
	"live/memory":     {never: transport},
	"valkey":          {ours: []string{"mapdata"}, never: transport},

	"follow": {ours: []string{"consensus", "index", "source", "mapdata", "geo"}, never: transport},
	"nearby": {ours: []string{"mapdata", "geo", "consensus", "law"}, never: transport},
	"stream": {ours: []string{"mapdata", "geo", "ratelimit"}, never: transport},

	"peers": {ours: []string{"mapdata", "geo", "provider/relay", "valkey"}, never: transport},

	"feed":    {ours: []string{"mapdata", "safehttp", "token"}, never: transport},
	"audit":   {ours: []string{"mapdata"}, never: transport},
	"account": {ours: []string{"mapdata", "safehttp", "token"}, never: transport},
	"vote":    {ours: []string{"mapdata"}, never: transport},
	"apps":    {ours: []string{"mapdata", "safehttp", "token"}, never: transport},
	"mail":    {ours: []string{"mapdata", "wording"}, never: transport},

	"basemap": {never: transport},

	"ratelimit":         {ours: []string{"mapdata"}, never: transport},
	"ratelimit/cluster": {ours: []string{"ratelimit", "valkey"}, never: transport},
	"console/words":     {ours: []string{"mapdata", "wording"}, never: technology},
	"console":           {ours: []string{"console/words", "account", "audit", "feed", "geo", "ingest", "mapdata", "provider/pull", "secret", "source"}, never: []string{"database/sql", "modernc.org/sqlite"}},
	"httpapi": {
		ours:  []string{"account", "console", "ahead", "apps", "feed", "ingest", "nearby", "provider/push", "source", "stream", "vote", "mapdata", "geo", "ratelimit", "basemap"},
		never: []string{"database/sql", "modernc.org/sqlite"},
	},

	"throwaway": {never: []string{"net/http", "database/sql"}},
	"config":    {ours: []string{"valkey"}, never: transport},
	"telemetry": {never: []string{"database/sql"}},
	"archtest":  {ours: []string{"mapdata"}},
	"cli":       {ours: []string{anything}},

	"upstream": {ours: []string{"ingest", "mapdata", "geo"}, never: []string{"database/sql"}}, // the other end of provider/relay

	"demo": {ours: []string{"geo", "basemap"}}, // knows the service by its wire, and writes its map as any tool would
}

// wireShapes are the packages whose structs may carry JSON tags.
var wireShapes = []string{"ingest", "httpapi", "law", "cli", "demo", "upstream"}

// suites are packages that only tests and measurements of other packages use: what concerns what ships does not concern them.
var suites = []string{"store/storetest", "live/livetest", "throwaway"}

// clients are the packages that stand outside the service's doors, as anybody's programs do: they know kinds by their ids.
var clients = []string{"demo", "upstream"}

// environment is the one package that reads variables of the process.
const environment = "cli"

// kindsFile is the one file that lists kinds (D2.2).
const kindsFile = "internal/mapdata/kinds.go"

// mappings are the files that say what others' words mean in kinds (D8.5): they name kinds, and list none.
var mappings = []string{"internal/provider/relay/raw_types.go"}

// Sizes that end the patience of a reader.
const (
	longestFile     = 600
	longestFunction = 80
)

// vague are names that say nothing of what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "manager", "base", "shared"}
