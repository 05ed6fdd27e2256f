package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Input holds the sources of the configuration.
type Input struct {
	File  string          // path of a TOML file; empty: none is read
	Env   []string        // NAME=value, as os.Environ returns them; only names with WAYSIDE_ are used
	Flags map[string]Flag // by key
}

// Flag is a key's value on the command line.
type Flag struct {
	Name  string // as typed: "--listen"
	Value string
}

// Error lists all problems of a configuration.
type Error struct{ Problems []Problem }

// Problem is one problem.
type Problem struct {
	Where string // "wayside.toml:12", "WAYSIDE_HTTP_LISTEN" or "--listen"
	Key   string // empty: the file as a whole
	Text  string
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the problem in one line.
func (p Problem) String() string {
	if p.Key == "" {
		return p.Where + ": " + p.Text
	}
	return p.Where + ": " + p.Key + ": " + p.Text
}

// loader collects accepted values and problems.
type loader struct {
	config   *Config
	settings []setting
	problems []Problem
}

// Load reads the configuration. It returns an *Error with all problems, or the error of the operating system for a file
// that cannot be read.
func Load(in Input) (*Config, error) {
	l := &loader{config: Default(), settings: settings()}
	if in.File != "" {
		data, err := os.ReadFile(in.File)
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		l.file(in.File, data)
	}
	l.variables(in.Env)
	for _, s := range l.settings {
		if flag, ok := in.Flags[s.key]; ok {
			l.takeText(s, flag.Name, flag.Value)
		}
	}
	l.together()
	if len(l.problems) > 0 {
		return nil, &Error{Problems: l.problems}
	}
	return l.config, nil
}

// variables applies the variables WAYSIDE_… in the order of their names, so that problems have a stable order.
func (l *loader) variables(env []string) {
	env = slices.Clone(env)
	slices.Sort(env)
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, variablePrefix) {
			continue
		}
		i := slices.IndexFunc(l.settings, func(s setting) bool { return Variable(s.key) == name })
		if i < 0 {
			l.complain(name, "", "unknown variable"+l.guess(name, Variable))
			continue
		}
		l.takeText(l.settings[i], name, value)
	}
}

func (l *loader) takeText(s setting, where, value string) {
	v, err := s.ofText(value)
	if err != nil {
		l.complain(where, s.key, err.Error())
		return
	}
	l.take(s, where, v, nil)
}

// take applies a value. Each of several problems is reported; whereKey finds where a key within the value stands (nil: at
// where).
func (l *loader) take(s setting, where string, v any, whereKey func(key string) string) {
	err := s.take(l.config, v)
	if err == nil {
		l.config.origins[s.key] = where
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		at := where
		var of keyError
		if errors.As(err, &of) && whereKey != nil {
			at = cmp.Or(whereKey(of.key), where)
		}
		l.complain(at, s.key, err.Error())
	}
}

func (l *loader) complain(where, key, text string) {
	l.problems = append(l.problems, Problem{where, key, text})
}

// problemOf returns the text of the problem with a key; empty: there is none.
func (l *loader) problemOf(key string) string {
	for _, p := range l.problems {
		if p.Key == key {
			return p.Text
		}
	}
	return ""
}

// together checks and completes settings that depend on two keys.
func (l *loader) together() {
	c := l.config
	if c.Navigation.Remote() && c.Navigation.EngineURL == "" && l.problemOf("navigation.engine_url") == "" {
		l.complain(c.origins["navigation.engine"], "navigation.engine_url", "is missing: it says where "+c.Navigation.Engine+" answers, such as http://127.0.0.1:5000")
	}
	if !c.Navigation.Remote() && c.Navigation.EngineURL != "" && l.problemOf("navigation.engine") == "" {
		l.complain(c.origins["navigation.engine_url"], "navigation.engine_url", "is for engines that are not embedded: set navigation.engine to osrm, valhalla or graphhopper, or leave this out")
	}
	if !c.Set("base_url") {
		c.BaseURL = "http://" + Reachable(c.HTTP.Listen)
	}
	if c.Ops.Listen != "" && c.Ops.Listen == c.HTTP.Listen && !strings.HasSuffix(c.Ops.Listen, ":0") {
		l.complain(c.origins["ops.listen"], "ops.listen", "is the same address as http.listen: metrics must not be public")
	}
	if c.Map.PMTiles != "" && c.Map.StyleURL != "" {
		l.complain(c.origins["map.style_url"], "map.style_url", "and map.pmtiles are both set: there is one base map")
	}
}

// Reachable turns an address to listen on into one to call: the wildcard address becomes the loopback address.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// guess returns the known key with the smallest edit distance to a mistyped one, if it is small enough. spell turns a key
// into its form in the source at hand. If no whole key is near, the last part of one may be: WAYSIDE_LISTEN is WAYSIDE_HTTP_LISTEN.
func (l *loader) guess(typed string, spell func(string) string) string {
	best, distance := "", maxGuessDistance+1
	try := func(key, written string, longest int) {
		if d := editDistance(typed, written); d < distance && d <= longest {
			best, distance = spell(key), d
		}
	}
	for _, s := range l.settings {
		written := spell(s.key)
		try(s.key, written, len(written)/3)
	}
	if best == "" {
		for _, s := range l.settings {
			if part := s.key[strings.LastIndexByte(s.key, '.')+1:]; spell(s.key) != "" {
				try(s.key, spell(part), len(part)/3)
			}
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// maxGuessDistance is the largest edit distance of a guess.
const maxGuessDistance = 3

// editDistance returns the Levenshtein distance.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := cmp.Compare(a[i], b[j])
			next := min(row[j+1]+1, row[j]+1, diagonal+cost*cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
