package config

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everything sets each key of D14 to a value that is not the default.
const everything = `
base_url = "https://map.example.org/"
data_dir = "/srv/wayside"
[http]
listen = ":9000"
trusted_proxies = ["10.0.0.0/8", "fd00::1"]
max_connections = 5000
max_connections_per_address = 50
hosts = ["Map.example.org.", "[FD00::1]", "*"]
[ops]
listen = "127.0.0.1:9001"
[database]
url = "postgres://wayside:hunter2@db1:5432,db2:5433/wayside?target_session_attrs=read-write"
[cache]
url = "valkeys://wayside:hunter2@cache.example.org:6380/2"
[cluster]
address = "10.0.0.5:8080"
[limits]
guest_reads_per_minute = 1
account_reads_per_minute = 2
guest_routes_per_minute = 13
account_routes_per_minute = 14
pushes_per_minute = 3
push_entities_per_minute = 0
manage_per_minute = 5
votes_per_minute = 6
reports_per_minute = 15
reports_per_day = 16
feeds_per_account = 7
entities_per_feed = 8
bytes_per_feed = "9KiB"
bytes_per_account = "10B"
unreviewed_entities_per_feed = 0
unreviewed_bytes_per_feed = "12GiB"
[votes]
trust_after = "1h30m"
[drivers]
enabled = false
show = "confirmed"
trust_after = "2h"
[read]
cors_origins = ["https://page.example.org"]
[chargers]
primary_network = "ionity"
[egress]
ca_file = "/etc/ca.pem"
[egress.hosts]
"feeds.example.org" = "127.0.0.1"
[catalogue]
file = "/etc/open-feeds.json"
[mail]
from = "Wayside <wayside@example.org>"
smtp_url = "smtps://user:hunter2@mail.example.org"
[incidents]
mode = "database"
[review]
require = "passkey"
[log]
level = "debug"
[map]
pmtiles = ""
style_url = "https://tiles.example.org/day.json?key=1"
attribution = "© Somebody"
[law]
file = "/etc/law.geojson"
[navigation]
region = "/srv/city.region"
engine = "embedded"
engine_url = ""
[apps]
enabled = true
dev_origins = ["http://localhost:9000"]
[speech]
command = ["espeak-ng", "-v", "{language}", "--stdin", "--stdout"]
[privacy]
operator = "Example e.V."
contact = "privacy@example.org"
hosting = "Falkenstein, Germany (EU)"
[[upstreams]]
name = "city-1"
url = "https://relay.example.org:8443/base/"
secret = "hunter2"
[[upstreams]]
name = "raw_2"
url = "http://127.0.0.1:9100"
secret = "hunter2 und ß"
form = "incidents-raw"
priority = 1000
area = [170, -46.5, -175.5, -34]
attribution = "© Somebody, \"CC BY 4.0\""
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wayside.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadAcceptsEveryKey(t *testing.T) {
	got, err := Load(Input{File: write(t, everything)})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		BaseURL: "https://map.example.org", DataDir: "/srv/wayside",
		HTTP: HTTP{":9000", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::1/128")}, 5000, 50, []string{"map.example.org", "fd00::1", "*"}},
		Ops:  Ops{"127.0.0.1:9001"}, Database: Database{"postgres://wayside:hunter2@db1:5432,db2:5433/wayside?target_session_attrs=read-write"}, Cache: Cache{"valkeys://wayside:hunter2@cache.example.org:6380/2"}, Cluster: Cluster{"10.0.0.5:8080"}, Limits: Limits{1, 2, 13, 14, 3, 0, 5, 6, 7, 15, 16, 8, 9 << 10, 10, 0, 12 << 30},
		Votes: Votes{90 * time.Minute}, Drivers: Drivers{false, ShowConfirmed, 2 * time.Hour}, Read: Read{[]string{"https://page.example.org"}}, Chargers: Chargers{"ionity"},
		Egress:    Egress{"/etc/ca.pem", map[string]netip.Addr{"feeds.example.org": netip.MustParseAddr("127.0.0.1")}},
		Catalogue: Catalogue{"/etc/open-feeds.json"},
		Mail:      Mail{"Wayside <wayside@example.org>", "smtps://user:hunter2@mail.example.org"}, Incidents: Incidents{"database"}, Review: Review{RequirePasskey},
		Log: Log{"debug"}, Map: Map{"", "https://tiles.example.org/day.json?key=1", "© Somebody"}, Law: Law{"/etc/law.geojson"},
		Navigation: Navigation{"/srv/city.region", EngineEmbedded, ""},
		Speech:     Speech{[]string{"espeak-ng", "-v", "{language}", "--stdin", "--stdout"}},
		Apps:       Apps{true, []string{"http://localhost:9000"}},
		Privacy:    Privacy{"Example e.V.", "privacy@example.org", "Falkenstein, Germany (EU)"},
		Upstreams: []Upstream{
			{Name: "city-1", URL: "https://relay.example.org:8443/base/", Secret: "hunter2", Form: "incidents", Priority: 1},
			{
				Name: "raw_2", URL: "http://127.0.0.1:9100", Secret: "hunter2 und ß", Form: "incidents-raw", Priority: 1000,
				Area: &[4]float64{170, -46.5, -175.5, -34}, Attribution: "© Somebody, \"CC BY 4.0\"",
			},
		},
		origins: got.origins,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Config{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	for _, key := range Keys() {
		if !got.Set(key) {
			t.Errorf("%s is not in the file above: add it", key)
		}
	}
}

func TestPrecedenceOfFlagsVariablesAndFile(t *testing.T) {
	in := Input{File: write(t, "data_dir = \"file\"\n[http]\nlisten = \"127.0.0.1:1\"\n[ops]\nlisten = \"127.0.0.1:2\"")}
	in.Env = []string{"HOME=/root", "WAYSIDE_HTTP_LISTEN=127.0.0.1:3", "WAYSIDE_DATA_DIR=variable", "WAYSIDE_OPS_LISTEN="}
	in.Flags = map[string]Flag{"http.listen": {"--listen", "127.0.0.1:4"}}
	got, err := Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if got.HTTP.Listen != "127.0.0.1:4" || got.DataDir != "variable" || got.Ops.Listen != "" {
		t.Errorf("listen %q, data_dir %q, ops %q", got.HTTP.Listen, got.DataDir, got.Ops.Listen)
	}
	if got.BaseURL != "http://127.0.0.1:4" {
		t.Errorf("base_url %q does not follow the address", got.BaseURL)
	}
}

func TestVariablesOfEveryForm(t *testing.T) {
	got, err := Load(Input{Env: []string{
		"WAYSIDE_LIMITS_VOTES_PER_MINUTE= 12", "WAYSIDE_HTTP_TRUSTED_PROXIES=10.0.0.0/8, 192.0.2.1",
		"WAYSIDE_EGRESS_HOSTS=a.example.org=127.0.0.1,B.example.org.=::1", "WAYSIDE_HTTP_LISTEN=[::]:80", "WAYSIDE_APPS_ENABLED=true",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Apps.Enabled || got.Limits.VotesPerMinute != 12 || len(got.HTTP.TrustedProxies) != 2 || got.BaseURL != "http://127.0.0.1:80" {
		t.Errorf("%+v", got)
	}
	if got.Egress.Hosts["a.example.org"].String() != "127.0.0.1" || got.Egress.Hosts["b.example.org"].String() != "::1" {
		t.Errorf("hosts %v", got.Egress.Hosts)
	}
}

// TestFileProblems checks that each problem names file, line and key (D12.1), and that all are reported together.
func TestFileProblems(t *testing.T) {
	tests := []struct {
		name, file string
		want       []string
	}{
		{"unknown key with a guess", "\n\n[http]\nlissten = \"x:1\"", []string{"wayside.toml:4: http.lissten: unknown key (did you mean http.listen?)"}},
		{"unknown key far from all", "zzzzzzzzzzzz = 1", []string{"wayside.toml:1: zzzzzzzzzzzz: unknown key"}},
		{"unknown section", "[htpp]\nlisten = \"127.0.0.1:1\"", []string{"wayside.toml:1: htpp: unknown key"}},
		{"other case", "[http]\nListen = \"x:1\"", []string{"wayside.toml:2: http.Listen: unknown key (did you mean http.listen?)"}},
		{"section as value", "http = 3", []string{"wayside.toml:1: http: must be a table: [http]"}},
		{"table as value", "[egress]\nhosts = 3", []string{"wayside.toml:2: egress.hosts: must be a table of strings"}},
		{"wrong type", "data_dir = 3", []string{"wayside.toml:1: data_dir: must be a string"}},
		{"no number", "[limits]\nvotes_per_minute = \"3\"", []string{"wayside.toml:2: limits.votes_per_minute: must be a whole number"}},
		{"out of range", "[limits]\nvotes_per_minute = 0", []string{"wayside.toml:2: limits.votes_per_minute: 0 is out of range: 1 to 2147483647"}},
		{"negative", "[limits]\npush_entities_per_minute = -1", []string{"wayside.toml:2: limits.push_entities_per_minute: -1 is out of range: 0 to 2147483647"}},
		{"bad address", "[http]\nlisten = \"8080\"", []string{`wayside.toml:2: http.listen: "8080" is not a host:port, such as 127.0.0.1:8080 or :8080`}},
		{"bad port", "[http]\nlisten = \"a:70000\"", []string{`wayside.toml:2: http.listen: "70000" is not a port: 0 to 65535`}},
		{"bad range", "[http]\ntrusted_proxies = [\"10.0.0.1/8\"]", []string{`wayside.toml:2: http.trusted_proxies: "10.0.0.1/8" has bits beyond its length: 10.0.0.0/8 is meant?`}},
		{"no range", "[http]\ntrusted_proxies = [\"lan\"]", []string{`wayside.toml:2: http.trusted_proxies: "lan" is not an address range, such as 10.0.0.0/8 or fd00::/8`}},
		{"host with a port", "[http]\nhosts = [\"a.example.org:80\"]", []string{`wayside.toml:2: http.hosts: "a.example.org:80" is not a host: a name or an address without port, such as map.example.org, or * for all`}},
		{"list of numbers", "[http]\ntrusted_proxies = [1]", []string{"wayside.toml:2: http.trusted_proxies: must be a list of strings"}},
		{"bad host address", "[egress.hosts]\n\"a.example.org\" = \"here\"", []string{`wayside.toml:2: egress.hosts: a.example.org: "here" is not an address, such as 127.0.0.1`}},
		{
			"two bad host addresses", "[egress.hosts]\na = \"127.0.0.1\"\n'b' = \"x\"\n\"c\" = \"y\"",
			[]string{`wayside.toml:3: egress.hosts: b: "x" is not an address, such as 127.0.0.1`, `wayside.toml:4: egress.hosts: c: "y" is not an address, such as 127.0.0.1`},
		},
		{"base URL with a path", "base_url = \"https://a.example.org/x\"", []string{"wayside.toml:1: base_url: takes scheme, host and port only, such as https://map.example.org"}},
		{"base URL of another scheme", "base_url = \"ftp://a.example.org\"", []string{"wayside.toml:1: base_url: must be a URL that begins with http:// or https://"}},
		{"origin with a slash", "[read]\ncors_origins = [\"https://a.example.org/\"]", []string{`wayside.toml:2: read.cors_origins: "https://a.example.org/": an origin has no slash at its end`}},
		{"another database", "[database]\nurl = \"mysql://u:secret@db/wayside\"", []string{"wayside.toml:2: database.url: must be empty (SQLite in data_dir) or begin with postgres://"}},
		{"a password that would show", "[database]\nurl = \"postgres://db/wayside?user=u&password=secret\"", []string{"wayside.toml:2: database.url: the password stands before the @: postgres://user:password@host/database"}},
		{"another cache", "[cache]\nurl = \"memcached://u:secret@cache\"", []string{"wayside.toml:2: cache.url: must begin with valkey:// or redis://, or with valkeys:// or rediss:// for TLS"}},
		{"nodes at no address", "[cluster]\naddress = \"0.0.0.0:8080\"", []string{"wayside.toml:2: cluster.address: \"0.0.0.0:8080\" names no host and port of this node, such as 10.0.0.5:8080"}},
		{"nodes at no port", "[cluster]\naddress = \"node1:0\"", []string{"wayside.toml:2: cluster.address: \"node1:0\" names no host and port of this node, such as 10.0.0.5:8080"}},
		{"bad mail server", "[mail]\nsmtp_url = \"http://u:secret@mail\"", []string{"wayside.toml:2: mail.smtp_url: must be a URL that begins with smtp:// or smtps://"}},
		{"mail server with a path", "[mail]\nsmtp_url = \"smtp://mail/x\"", []string{"wayside.toml:2: mail.smtp_url: has no path: use one such as smtps://user:password@mail.example.org:465"}},
		{"mail server with a bad option", "[mail]\nsmtp_url = \"smtp://mail?starttls=maybe\"", []string{"wayside.toml:2: mail.smtp_url: takes behind a question mark only starttls=required, starttls=optional or starttls=never"}},
		{"bad sender", "[mail]\nfrom = \"nobody\"", []string{`wayside.toml:2: mail.from: must be one e-mail address, such as wayside@example.org or "Wayside <wayside@example.org>"`}},
		{"bad requirement", "[review]\nrequire = \"trust\"", []string{`wayside.toml:2: review.require: "trust" is none of session, passkey`}},
		{"bad mode", "[incidents]\nmode = \"dead\"", []string{`wayside.toml:2: incidents.mode: "dead" is none of live, database`}},
		{"network with a comma", "[chargers]\nprimary_network = \"a,b\"", []string{`wayside.toml:2: chargers.primary_network: "a,b" is not an operator id: 1 to 64 characters without commas and white space`}},
		{"the same address twice", "[http]\nlisten = \"a:1\"\n[ops]\nlisten = \"a:1\"", []string{"wayside.toml:4: ops.listen: is the same address as http.listen: metrics must not be public"}},
		{
			"several at once, in the order of lines", "x_y_z_1_2 = 1\n[ops]\nlisten = 3\n[http]\nlisten = 3",
			[]string{"wayside.toml:1: x_y_z_1_2: unknown key", "wayside.toml:3: ops.listen: must be a string", "wayside.toml:5: http.listen: must be a string"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Input{File: write(t, tt.file)})
			var problems *Error
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(err.Error(), "secret@") {
				t.Error("a password is repeated")
			}
		})
	}
}

func TestInvalidTOML(t *testing.T) {
	_, err := Load(Input{File: write(t, "a = 1\nb = \n")})
	if err == nil || !strings.HasPrefix(err.Error(), "wayside.toml:2: ") {
		t.Errorf("got %v", err)
	}
	_, err = Load(Input{File: write(t, "data_dir = \"a\"\ndata_dir = \"b\"\n")})
	if err == nil || !strings.HasPrefix(err.Error(), "wayside.toml:2: data_dir: ") {
		t.Errorf("the same key twice: got %v", err)
	}
	if _, err = Load(Input{File: filepath.Join(t.TempDir(), "none.toml")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

func TestVariableAndFlagProblems(t *testing.T) {
	in := Input{Env: []string{"WAYSIDE_HTTP_LISTN=a:1", "WAYSIDE_LIMITS_VOTES_PER_MINUTE=many", "WAYSIDE_UPSTREAMS=a", "WAYSIDE_EGRESS_HOSTS=a"}}
	in.Flags = map[string]Flag{"http.listen": {"--listen", "8080"}}
	_, err := Load(in)
	want := []string{
		`WAYSIDE_EGRESS_HOSTS: egress.hosts: "a" is not name=value`,
		"WAYSIDE_HTTP_LISTN: unknown variable (did you mean WAYSIDE_HTTP_LISTEN?)",
		`WAYSIDE_LIMITS_VOTES_PER_MINUTE: limits.votes_per_minute: "many" is not a whole number`,
		"WAYSIDE_UPSTREAMS: unknown variable",
		`--listen: http.listen: "8080" is not a host:port, such as 127.0.0.1:8080 or :8080`,
	}
	if err == nil {
		t.Fatal("no problem found")
	}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// TestVariableGuesses covers misspelt variables, whole and without their section.
func TestVariableGuesses(t *testing.T) {
	for typed, want := range map[string]string{
		"WAYSIDE_LITSEN": "WAYSIDE_HTTP_LISTEN", "WAYSIDE_LISTEN": "WAYSIDE_HTTP_LISTEN", "WAYSIDE_SMTP_URL": "WAYSIDE_MAIL_SMTP_URL",
		"WAYSIDE_PMTILE": "WAYSIDE_MAP_PMTILES", "WAYSIDE_BASEURL": "WAYSIDE_BASE_URL", "WAYSIDE_DATADIR": "WAYSIDE_DATA_DIR",
		"WAYSIDE_PORT": "", "WAYSIDE_X": "",
	} {
		_, err := Load(Input{Env: []string{typed + "=x"}})
		text := typed + ": unknown variable"
		if want != "" {
			text += " (did you mean " + want + "?)"
		}
		if err == nil || err.Error() != text {
			t.Errorf("%s: got %v, want %s", typed, err, text)
		}
	}
}

// TestWriteTOML checks that the output masks secrets, names the sources of values, and is read back unchanged.
func TestWriteTOML(t *testing.T) {
	first, err := Load(Input{File: write(t, everything), Env: []string{"WAYSIDE_LIMITS_VOTES_PER_MINUTE=9"}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := first.WriteTOML(&out); err != nil {
		t.Fatal(err)
	}
	shown := out.String()
	if strings.Contains(shown, "hunter2") || !strings.Contains(shown, "user:xxxxx@") {
		t.Errorf("the password is not masked:\n%s", shown)
	}
	for _, line := range []string{"votes_per_minute = 9  # WAYSIDE_LIMITS_VOTES_PER_MINUTE\n", "listen = \":9000\"  # wayside.toml:5\n"} {
		if !strings.Contains(shown, line) {
			t.Errorf("%q is missing in\n%s", line, shown)
		}
	}
	second, err := Load(Input{File: write(t, shown)})
	if err != nil {
		t.Fatalf("what was written is not read: %v\n%s", err, shown)
	}
	for i := range first.Upstreams {
		first.Upstreams[i].Secret = mask
	}
	first.Mail.SMTPURL = strings.Replace(first.Mail.SMTPURL, "hunter2", "xxxxx", 1)
	first.Database.URL = strings.Replace(first.Database.URL, "hunter2", "xxxxx", 1)
	first.Cache.URL = strings.Replace(first.Cache.URL, "hunter2", "xxxxx", 1)
	first.origins, second.origins = nil, nil
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(Config{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// TestDefaults checks the defaults of D14.
func TestDefaults(t *testing.T) {
	got, err := Load(Input{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := got.WriteTOML(&out); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "default.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
}

func FuzzFile(f *testing.F) {
	f.Add(everything)
	f.Add("[[upstreams]]\narea = [1,2,3,nan]")
	f.Add("http = [[1]]\n[x]\n\"a.b\" = {}")
	f.Fuzz(func(t *testing.T, text string) {
		l := &loader{config: Default(), settings: settings()}
		l.file("f.toml", []byte(text))
		for _, p := range l.problems {
			if p.Text == "" || !strings.HasPrefix(p.Where, "f.toml") {
				t.Errorf("problem %+v", p)
			}
		}
	})
}

// TestManualNamesEveryKey checks that docs/operating.md documents each key and its variable.
func TestManualNamesEveryKey(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		row := "| `" + key + "` | `" + Variable(key) + "` |"
		if key == "upstreams" {
			row = "| `[[upstreams]]` |"
		}
		if !bytes.Contains(manual, []byte(row)) {
			t.Errorf("docs/operating.md has no row %s", row)
		}
	}
}
