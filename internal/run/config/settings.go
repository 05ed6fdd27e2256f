package config

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one key: how it is parsed, stored and printed.
type setting struct {
	key  string
	form form
	take func(c *Config, v any) error // v has the type of the form; for an array of tables, take is called for each table
	show func(c *Config) any          // secrets masked
}

// form is the type of a key's value in the file. In a variable or a flag it is text: the elements of a list are separated by
// commas, those of a table are name=value.
type form int

const (
	text    form = iota // string
	number              // int64
	boolean             // bool
	list                // []string
	table               // map[string]string
	tables              // an array of tables: in the file only
)

func (f form) String() string {
	return [...]string{"a string", "a whole number", "true or false", "a list of strings", "a table of strings", "an array of tables"}[f]
}

// settings lists all keys (D14), in the order in which they are printed.
func settings() []setting {
	return []setting{
		stringKey("base_url", func(c *Config) *string { return &c.BaseURL }, checkBaseURL),
		stringKey("data_dir", func(c *Config) *string { return &c.DataDir }, checkNotEmpty),
		stringKey("http.listen", func(c *Config) *string { return &c.HTTP.Listen }, checkListen),
		prefixesKey("http.trusted_proxies", func(c *Config) *[]netip.Prefix { return &c.HTTP.TrustedProxies }),
		numberKey("http.max_connections", func(c *Config) *int { return &c.HTTP.MaxConnections }, 0),
		numberKey("http.max_connections_per_address", func(c *Config) *int { return &c.HTTP.MaxPerAddress }, 1),
		listKey("http.hosts", func(c *Config) *[]string { return &c.HTTP.Hosts }, checkHost),
		stringKey("ops.listen", func(c *Config) *string { return &c.Ops.Listen }, orEmpty(checkListen)),
		masked(stringKey("database.url", func(c *Config) *string { return &c.Database.URL }, orEmpty(checkDatabaseURL))),
		masked(stringKey("cache.url", func(c *Config) *string { return &c.Cache.URL }, orEmpty(checkCacheURL))),
		stringKey("cluster.address", func(c *Config) *string { return &c.Cluster.Address }, orEmpty(checkNodeAddress)),
		numberKey("limits.guest_reads_per_minute", func(c *Config) *int { return &c.Limits.GuestReadsPerMinute }, 1),
		numberKey("limits.account_reads_per_minute", func(c *Config) *int { return &c.Limits.AccountReadsPerMinute }, 1),
		numberKey("limits.guest_routes_per_minute", func(c *Config) *int { return &c.Limits.GuestRoutesPerMinute }, 1),
		numberKey("limits.account_routes_per_minute", func(c *Config) *int { return &c.Limits.AccountRoutesPerMinute }, 1),
		numberKey("limits.pushes_per_minute", func(c *Config) *int { return &c.Limits.PushesPerMinute }, 1),
		numberKey("limits.push_entities_per_minute", func(c *Config) *int { return &c.Limits.PushEntitiesPerMinute }, 0),
		numberKey("limits.manage_per_minute", func(c *Config) *int { return &c.Limits.ManagePerMinute }, 1),
		numberKey("limits.votes_per_minute", func(c *Config) *int { return &c.Limits.VotesPerMinute }, 1),
		numberKey("limits.feeds_per_account", func(c *Config) *int { return &c.Limits.FeedsPerAccount }, 1),
		numberKey("limits.reports_per_minute", func(c *Config) *int { return &c.Limits.ReportsPerMinute }, 1),
		numberKey("limits.reports_per_day", func(c *Config) *int { return &c.Limits.ReportsPerDay }, 1),
		numberKey("limits.entities_per_feed", func(c *Config) *int { return &c.Limits.EntitiesPerFeed }, 0),
		sizeKey("limits.bytes_per_feed", func(c *Config) *int64 { return &c.Limits.BytesPerFeed }),
		sizeKey("limits.bytes_per_account", func(c *Config) *int64 { return &c.Limits.BytesPerAccount }),
		numberKey("limits.unreviewed_entities_per_feed", func(c *Config) *int { return &c.Limits.UnreviewedEntitiesPerFeed }, 0),
		sizeKey("limits.unreviewed_bytes_per_feed", func(c *Config) *int64 { return &c.Limits.UnreviewedBytesPerFeed }),
		durationKey("votes.trust_after", func(c *Config) *time.Duration { return &c.Votes.TrustAfter }, 0, 30*24*time.Hour),
		boolKey("drivers.enabled", func(c *Config) *bool { return &c.Drivers.Enabled }),
		stringKey("drivers.show", func(c *Config) *string { return &c.Drivers.Show }, oneOf(ShowAll, ShowConfirmed)),
		durationKey("drivers.trust_after", func(c *Config) *time.Duration { return &c.Drivers.TrustAfter }, 0, 30*24*time.Hour),
		listKey("read.cors_origins", func(c *Config) *[]string { return &c.Read.CORSOrigins }, checkOrigin),
		stringKey("chargers.primary_network", func(c *Config) *string { return &c.Chargers.PrimaryNetwork }, checkNetwork),
		stringKey("egress.ca_file", func(c *Config) *string { return &c.Egress.CAFile }, anyText),
		hostsKey("egress.hosts", func(c *Config) *map[string]netip.Addr { return &c.Egress.Hosts }),
		stringKey("catalogue.file", func(c *Config) *string { return &c.Catalogue.File }, anyText),
		stringKey("mail.from", func(c *Config) *string { return &c.Mail.From }, checkMailFrom),
		masked(stringKey("mail.smtp_url", func(c *Config) *string { return &c.Mail.SMTPURL }, orEmpty(checkSMTPURL))),
		stringKey("incidents.mode", func(c *Config) *string { return &c.Incidents.Mode }, oneOf("live", "database")),
		stringKey("review.require", func(c *Config) *string { return &c.Review.Require }, oneOf(RequireSession, RequirePasskey)),
		stringKey("log.level", func(c *Config) *string { return &c.Log.Level }, oneOf("debug", "info", "warn", "error")),
		stringKey("map.pmtiles", func(c *Config) *string { return &c.Map.PMTiles }, anyText),
		stringKey("map.style_url", func(c *Config) *string { return &c.Map.StyleURL }, orEmpty(checkStyleURL)),
		stringKey("map.attribution", func(c *Config) *string { return &c.Map.Attribution }, checkAttribution),
		stringKey("law.file", func(c *Config) *string { return &c.Law.File }, anyText),
		stringKey("navigation.region", func(c *Config) *string { return &c.Navigation.Region }, anyText),
		stringKey("navigation.engine", func(c *Config) *string { return &c.Navigation.Engine }, oneOf(EngineEmbedded, "osrm", "valhalla", "graphhopper")),
		stringKey("navigation.engine_url", func(c *Config) *string { return &c.Navigation.EngineURL }, checkEngineURL),
		listKey("speech.command", func(c *Config) *[]string { return &c.Speech.Command }, checkWord),
		boolKey("apps.enabled", func(c *Config) *bool { return &c.Apps.Enabled }),
		listKey("apps.dev_origins", func(c *Config) *[]string { return &c.Apps.DevOrigins }, checkOrigin),
		stringKey("privacy.operator", func(c *Config) *string { return &c.Privacy.Operator }, checkAttribution),
		stringKey("privacy.contact", func(c *Config) *string { return &c.Privacy.Contact }, checkAttribution),
		stringKey("privacy.hosting", func(c *Config) *string { return &c.Privacy.Hosting }, checkAttribution),
		{"upstreams", tables, takeUpstream, showUpstreams},
	}
}

// Keys returns all keys, in order.
func Keys() []string {
	all := settings()
	keys := make([]string, len(all))
	for i := range all {
		keys[i] = all[i].key
	}
	return keys
}

// variablePrefix starts the name of every variable of this program.
const variablePrefix = "WAYSIDE_"

// Variable returns the name of the variable that overrides a key: upper case, with underscores for dots. It returns an empty name
// for the one key that only a file can set.
func Variable(key string) string {
	if key == "upstreams" {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// stringKey makes a setting of one string. check returns it in its normal form.
func stringKey(key string, field func(*Config) *string, check func(string) (string, error)) setting {
	return setting{
		key, text,
		func(c *Config, v any) error {
			s, err := check(v.(string))
			if err == nil {
				*field(c) = s
			}
			return err
		},
		func(c *Config) any { return *field(c) },
	}
}

// masked hides the password of a URL when the setting is printed.
func masked(s setting) setting {
	show := s.show
	s.show = func(c *Config) any { return maskURL(show(c).(string)) }
	return s
}

func boolKey(key string, field func(*Config) *bool) setting {
	return setting{
		key, boolean,
		func(c *Config, v any) error { *field(c) = v.(bool); return nil },
		func(c *Config) any { return *field(c) },
	}
}

func numberKey(key string, field func(*Config) *int, least int64) setting {
	return setting{
		key, number,
		func(c *Config, v any) error {
			n := v.(int64)
			if n < least || n > math.MaxInt32 {
				return fmt.Errorf("%d is out of range: %d to %d", n, least, math.MaxInt32)
			}
			*field(c) = int(n)
			return nil
		},
		func(c *Config) any { return *field(c) },
	}
}

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// sizeKey makes a setting of a number of bytes with its unit, such as "64MiB".
func sizeKey(key string, field func(*Config) *int64) setting {
	return setting{
		key, text,
		func(c *Config, v any) error {
			size, err := parseSize(v.(string))
			if err == nil {
				*field(c) = size
			}
			return err
		},
		func(c *Config) any { return formatSize(*field(c)) },
	}
}

func parseSize(value string) (int64, error) {
	value = strings.TrimSpace(value)
	if value == "0" {
		return 0, nil
	}
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(value, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
			break
		}
		return n * unit.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size: a whole number with B, KiB, MiB or GiB, such as 64MiB", value)
}

// formatSize writes a size in the largest unit that divides it.
func formatSize(size int64) string {
	for _, unit := range sizeUnits {
		if size != 0 && size%unit.bytes == 0 {
			return strconv.FormatInt(size/unit.bytes, 10) + unit.name
		}
	}
	return "0"
}

// durationKey makes a setting of a duration as Go writes it, such as "24h".
func durationKey(key string, field func(*Config) *time.Duration, least, most time.Duration) setting {
	return setting{
		key, text,
		func(c *Config, v any) error {
			d, err := time.ParseDuration(strings.TrimSpace(v.(string)))
			if err != nil {
				return fmt.Errorf("%q is not a duration: numbers with h, m or s, such as 24h or 1h30m", v)
			}
			if d < least || d > most {
				return fmt.Errorf("%s is out of range: %s to %s", formatDuration(d), formatDuration(least), formatDuration(most))
			}
			*field(c) = d
			return nil
		},
		func(c *Config) any { return formatDuration(*field(c)) },
	}
}

// formatDuration formats a duration without units that are zero: "24h", not "24h0m0s".
func formatDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

func listKey(key string, field func(*Config) *[]string, check func(string) (string, error)) setting {
	return setting{
		key, list,
		func(c *Config, v any) error {
			var kept []string
			for _, part := range v.([]string) {
				s, err := check(part)
				if err != nil {
					return err
				}
				kept = append(kept, s)
			}
			*field(c) = kept
			return nil
		},
		func(c *Config) any { return append([]string{}, *field(c)...) },
	}
}

func prefixesKey(key string, field func(*Config) *[]netip.Prefix) setting {
	return setting{
		key, list,
		func(c *Config, v any) error {
			var kept []netip.Prefix
			for _, part := range v.([]string) {
				p, err := parsePrefix(part)
				if err != nil {
					return err
				}
				kept = append(kept, p)
			}
			*field(c) = kept
			return nil
		},
		func(c *Config) any {
			shown := []string{}
			for _, p := range *field(c) {
				shown = append(shown, p.String())
			}
			return shown
		},
	}
}

func hostsKey(key string, field func(*Config) *map[string]netip.Addr) setting {
	return setting{
		key, table,
		func(c *Config, v any) error {
			kept := make(map[string]netip.Addr)
			var errs []error
			for name, address := range v.(map[string]string) {
				host, addr, err := parseHost(name, address)
				if err != nil {
					errs = append(errs, keyError{name, err})
				}
				kept[host] = addr
			}
			if len(errs) > 0 {
				return joinSorted(errs)
			}
			*field(c) = kept
			return nil
		},
		func(c *Config) any {
			shown := make(map[string]string)
			for name, addr := range *field(c) {
				shown[name] = addr.String()
			}
			return shown
		},
	}
}

// ofText parses the text of a variable or a flag.
func (s *setting) ofText(value string) (any, error) {
	switch s.form {
	case text:
		return value, nil
	case number:
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", value)
		}
		return n, nil
	case boolean:
		switch strings.TrimSpace(value) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", value)
	case list:
		return parts(value), nil
	case table:
		m := make(map[string]string)
		for _, part := range parts(value) {
			name, v, ok := strings.Cut(part, "=")
			if !ok {
				return nil, fmt.Errorf("%q is not name=value", part)
			}
			m[strings.TrimSpace(name)] = strings.TrimSpace(v)
		}
		return m, nil
	default:
		return nil, fmt.Errorf("takes %v, which only the file can hold", s.form)
	}
}

// parts splits text at commas and drops empty parts.
func parts(value string) []string {
	split := strings.Split(value, ",")
	for i := range split {
		split[i] = strings.TrimSpace(split[i])
	}
	return slices.DeleteFunc(split, func(s string) bool { return s == "" })
}
