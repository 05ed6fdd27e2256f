package config

import (
	"net/netip"
	"time"
)

// Config is everything that an operator can set. Load checks every field.
type Config struct {
	BaseURL string // public address in links and e-mails, without a trailing slash; default: http:// and HTTP.Listen
	DataDir string // directory of database, key and outbox; default "./wayside-data"

	HTTP      HTTP
	Ops       Ops
	Database  Database
	Cache     Cache
	Cluster   Cluster
	Limits    Limits
	Votes     Votes
	Drivers   Drivers
	Read      Read
	Chargers  Chargers
	Privacy   Privacy
	Egress    Egress
	Catalogue Catalogue
	Mail      Mail
	Incidents Incidents
	Review    Review
	Log       Log
	Map       Map
	Law       Law

	Navigation Navigation
	Speech     Speech
	Apps       Apps

	Upstreams []Upstream // relay providers (D8), in the order of the file, at most 16; default none

	origins map[string]string // by key: the source of a value that is not the default
}

// HTTP is the public address.
type HTTP struct {
	Listen         string         // host:port; default "127.0.0.1:8080"; port 0 means any free one
	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts; default none
	MaxConnections int            // open at the same time; default 0: as many as the limit of open files leaves room for
	MaxPerAddress  int            // connections of one address (IPv6: one /64) that is no trusted proxy; default 256
	Hosts          []string       // names, beside that of base_url, by which the service may be called; default none
}

// Ops is the address of metrics and profiles, for the operator.
type Ops struct {
	Listen string // host:port; default empty: off
}

// Database is the store of everything durable.
type Database struct {
	URL string // postgres://…; default empty: SQLite in the data directory
}

// Cache is the short-lived state that nodes share.
type Cache struct {
	URL string // as valkey.CheckURL accepts it; default empty: in this process
}

// Cluster configures how nodes reach each other.
type Cluster struct {
	Address string // host:port of this node for the others; default empty: the address that the shared cache sees, and the port of HTTP.Listen
}

// Limits holds rates and counts; each is at least 1 unless its comment allows less.
type Limits struct {
	GuestReadsPerMinute    int // of one client address; default 60
	AccountReadsPerMinute  int // of one account; default 120
	GuestRoutesPerMinute   int // routes for one client address, a table counts one for each 100 pairs; default 60
	AccountRoutesPerMinute int // for one account; default 120
	PushesPerMinute        int // of one push token; default 60
	PushEntitiesPerMinute  int // rows of one push token; default 10 000; 0 turns it off (D7.3)
	ManagePerMinute        int // management requests of one account; default 60
	VotesPerMinute         int // of one account; default 30
	FeedsPerAccount        int // default 20

	ReportsPerMinute int // of one account (D17.37); default 5
	ReportsPerDay    int // of one account within 24 hours, 10 at most on its first day; default 50

	// Bounds of stored data (D5.10); 0 turns each off.
	EntitiesPerFeed           int   // default 200 000
	BytesPerFeed              int64 // of external ids, properties and lines; default 64 MiB
	BytesPerAccount           int64 // of all feeds of an account; default 256 MiB
	UnreviewedEntitiesPerFeed int   // of a feed that no curator has approved yet; default 20 000
	UnreviewedBytesPerFeed    int64 // likewise; default 16 MiB
}

// Votes configures the effect of drivers' votes.
type Votes struct {
	TrustAfter time.Duration // how long after its first sign-in an account's votes count towards suppression (D9.8); default 24 h; 0: immediately
}

// Which reports everybody reads:
const (
	ShowAll       = "all" // apart from closed roads, which need two accounts in any case
	ShowConfirmed = "confirmed"
)

// Drivers configures drivers' own reports (D17.37).
type Drivers struct {
	Enabled    bool          // default true; false: there are no reports
	Show       string        // ShowAll, or ShowConfirmed: only reports that two accounts support; default "all"
	TrustAfter time.Duration // how long after its first sign-in an account's reports and its votes on reports count; default 24 h; 0: immediately
}

// Read configures the read API.
type Read struct {
	CORSOrigins []string // origins whose pages may read (D12.9); default none
}

// Chargers configures charger networks (D4.7).
type Chargers struct {
	PrimaryNetwork string // the operator id that everybody sees; default "tesla"
}

// Egress configures connections to addresses that providers chose (D6.13).
type Egress struct {
	CAFile string                // PEM file of certificate authorities to trust beside the system's; default none
	Hosts  map[string]netip.Addr // names that resolve to this address and skip the address check; default none
}

// Catalogue configures the list of open feeds (D17.19).
type Catalogue struct {
	File string // a JSON array of the operator's own open feeds, whose ids win; default none
}

// Mail configures e-mail.
type Mail struct {
	From    string // sender's address; default "wayside@localhost"
	SMTPURL string // smtp:// or smtps:// with user and password; default empty: .eml files in the data directory
}

// Incidents configures live incidents (D8.9).
type Incidents struct {
	Mode string // "live" or "database"; default "live"
}

// The values of Review.Require: what a curator must present for a decision, on the pages and through the API.
const (
	RequireSession = "session"
	RequirePasskey = "passkey"
)

// Review configures the work of curators (D11.1).
type Review struct {
	Require string // RequireSession, or RequirePasskey: one that was used within ten minutes; default "session"
}

// Map configures the base map. PMTiles and StyleURL are not both set.
type Map struct {
	PMTiles     string // PMTiles v3 file that the service serves; default empty: none
	StyleURL    string // http or https: a MapLibre style on another server; default empty: none
	Attribution string // attribution that the map requires, at most 500 characters; default empty: that of the file
}

// Privacy is the operator's part of the privacy notice at /privacy. Each field is plain text of at most 500 characters; default
// empty: the notice says that it is not set.
type Privacy struct {
	Operator string // name and postal address
	Contact  string // how the data protection contact is reached
	Hosting  string // where the machines stand
}

// Law configures what drivers must not see in some areas.
type Law struct {
	File string // GeoJSON of areas in which kinds are hidden or cameras are zones; default empty: nowhere
}

// RegionOff is the value of Navigation.Region with which the service has no region.
const RegionOff = "off"

// EngineEmbedded is the routing engine within this program.
const EngineEmbedded = "embedded"

// Speech configures the program that speaks the announcements of routes (D15.25).
type Speech struct {
	Command []string // a program and its arguments, {language} is replaced; default empty: announcements have no clips
}

// Apps configures web pages of third parties beside the map (D16).
type Apps struct {
	Enabled    bool     // default false: there are no apps, and neither their pages nor their endpoints
	DevOrigins []string // origins whose pages may be framed without https and on any host, for developing apps; default none
}

// Navigation configures routes (D15.23).
type Navigation struct {
	Region    string // path of a region file, or RegionOff; default empty: the current region of the data directory
	Engine    string // EngineEmbedded, "osrm", "valhalla" or "graphhopper"; default EngineEmbedded
	EngineURL string // of an engine that is not embedded: http or https, without user, query and fragment; default empty
}

// Log configures the service's log.
type Log struct {
	Level string // "debug", "info", "warn" or "error"; default "info"
}

// Remote reports whether an engine outside of this program finds routes.
func (n *Navigation) Remote() bool { return n.Engine != EngineEmbedded }

// Upstream is one relay provider (D8.1).
type Upstream struct {
	Name        string      // 1 to 40 characters of a-z, 0-9, _ and -; no other upstream has it
	URL         string      // http or https, without user, query and fragment; safehttp.OperatorURL checks host and path
	Secret      string      // X-Service-Auth, 1 to 4096 bytes without control characters
	Form        string      // "incidents" or "incidents-raw"
	Priority    int         // 1 to 1000; 1 is first
	Area        *[4]float64 // west, south, east, north in degrees; west > east crosses the antimeridian; nil: everywhere
	Attribution string      // attribution that readers must display, at most 500 characters; may be empty
}

// Default returns the configuration without file, variables and flags.
func Default() *Config {
	return &Config{
		BaseURL:    "http://127.0.0.1:8080",
		DataDir:    "./wayside-data",
		HTTP:       HTTP{Listen: "127.0.0.1:8080", MaxPerAddress: 256},
		Limits:     Limits{60, 120, 60, 120, 60, 10_000, 60, 30, 20, 5, 50, 200_000, 64 << 20, 256 << 20, 20_000, 16 << 20},
		Votes:      Votes{TrustAfter: 24 * time.Hour},
		Drivers:    Drivers{Enabled: true, Show: ShowAll, TrustAfter: 24 * time.Hour},
		Chargers:   Chargers{PrimaryNetwork: "tesla"},
		Mail:       Mail{From: "wayside@localhost"},
		Incidents:  Incidents{Mode: "live"},
		Review:     Review{RequireSession},
		Log:        Log{Level: "info"},
		Navigation: Navigation{Engine: EngineEmbedded},
		origins:    make(map[string]string),
	}
}

// Set reports whether the key was set by file, variable or flag.
func (c *Config) Set(key string) bool { return c.origins[key] != "" }
