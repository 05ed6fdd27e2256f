package config

import "net/netip"

// Config is everything that an operator can set. Load has checked every field.
type Config struct {
	BaseURL string // public address in links and e-mails, without a trailing slash; default: http:// and HTTP.Listen
	DataDir string // folder of database, key and outbox; default "./wayside-data"

	HTTP      HTTP
	Ops       Ops
	Database  Database
	Cache     Cache
	Limits    Limits
	Read      Read
	Chargers  Chargers
	Egress    Egress
	Mail      Mail
	Incidents Incidents
	Review    Review
	Log       Log
	Map       Map
	Law       Law
	Upstreams []Upstream // relay providers (D8), in the order of the file, at most 16; default none

	origins map[string]string // by key: where a value that is no default came from
}

// HTTP is the public address.
type HTTP struct {
	Listen         string         // host:port; default "127.0.0.1:8080"; port 0 takes a free one
	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts; default none
}

// Ops is the operator's own address, for metrics and profiles.
type Ops struct {
	Listen string // host:port; default empty: off
}

// Database is where everything durable lives.
type Database struct {
	URL string // postgres://…; default empty: SQLite in the data directory
}

// Cache is what nodes share for minutes.
type Cache struct {
	URL string // as valkey.CheckURL takes it; default empty: in the process
}

// Limits are rates and counts; each is at least 1 unless it says otherwise.
type Limits struct {
	GuestReadsPerMinute   int // of one client address; default 60
	AccountReadsPerMinute int // of one account; default 120
	PushesPerMinute       int // of one push token; default 60
	PushEntitiesPerMinute int // rows of one push token; default 10 000; 0 turns it off (D7.3)
	ManagePerMinute       int // management requests of one account; default 60
	VotesPerMinute        int // of one account; default 30
	FeedsPerAccount       int // default 20
}

// Read is about the read API.
type Read struct {
	CORSOrigins []string // origins whose pages may read (D12.9); default none
}

// Chargers is about charger networks (D4.7).
type Chargers struct {
	PrimaryNetwork string // the operator id that everybody sees; default "tesla"
}

// Egress is about connections to addresses that providers chose (D6.13).
type Egress struct {
	CAFile string                // PEM file of certificate authorities to trust beside the system's; default none
	Hosts  map[string]netip.Addr // names that resolve to this address and skip the address check; default none
}

// Mail is about letters.
type Mail struct {
	From    string // sender's address; default "wayside@localhost"
	SMTPURL string // smtp:// or smtps:// with user and password; default empty: .eml files in the data directory
}

// Incidents is about live incidents (D8.9).
type Incidents struct {
	Mode string // "live" or "database"; default "live"
}

// What a decision of a curator on the pages takes.
const (
	RequireSession = "session"
	RequirePasskey = "passkey"
)

// Review is about curators (D11.1).
type Review struct {
	Require string // RequireSession, or RequirePasskey: one that was used within ten minutes; default "session"
}

// Map is about the map below the pins. Not both PMTiles and StyleURL are set.
type Map struct {
	PMTiles     string // PMTiles v3 file that the service serves; default empty: none
	StyleURL    string // http or https: a MapLibre style that somebody else serves; default empty: none
	Attribution string // what the map's makers want displayed, at most 500 characters; default empty: what the file says
}

// Law is about what drivers may not be shown.
type Law struct {
	File string // GeoJSON of areas in which kinds are hidden or cameras are zones; default empty: nowhere
}

// Log is about the service's own log.
type Log struct {
	Level string // "debug", "info", "warn" or "error"; default "info"
}

// Upstream is one relay provider (D8.1).
type Upstream struct {
	Name        string      // 1 to 40 characters of a-z, 0-9, _ and -; no other upstream has it
	URL         string      // http or https, without user, query and fragment; whether a call can be made to it, safehttp.OperatorURL says
	Secret      string      // X-Service-Auth, 1 to 4096 bytes without control characters
	Form        string      // "incidents" or "incidents-raw"
	Priority    int         // 1 to 1000; 1 is first
	Area        *[4]float64 // west, south, east, north in degrees; west > east crosses the antimeridian; nil: everywhere
	Attribution string      // what readers must display, at most 500 characters; may be empty
}

// Default is the configuration without file, variables and flags.
func Default() *Config {
	return &Config{
		BaseURL:   "http://127.0.0.1:8080",
		DataDir:   "./wayside-data",
		HTTP:      HTTP{Listen: "127.0.0.1:8080"},
		Limits:    Limits{60, 120, 60, 10_000, 60, 30, 20},
		Chargers:  Chargers{PrimaryNetwork: "tesla"},
		Mail:      Mail{From: "wayside@localhost"},
		Incidents: Incidents{Mode: "live"},
		Review:    Review{RequireSession},
		Log:       Log{Level: "info"},
		origins:   make(map[string]string),
	}
}

// Set says whether somebody set the key, rather than leaving it at its default.
func (c *Config) Set(key string) bool { return c.origins[key] != "" }
