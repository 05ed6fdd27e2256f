package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// upstreamCmds are wayside upstream ….
type upstreamCmds struct {
	List  upstreamListCmd  `cmd:"" help:"List the configured upstreams, without their secrets."`
	Check upstreamCheckCmd `cmd:"" help:"Call each upstream once, as for a driver, and show its response."`
}

type upstreamListCmd struct {
	configFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// upstreamJSON is an upstream in the output of --json.
type upstreamJSON struct {
	Name        string      `json:"name"`
	URL         string      `json:"url"`
	Form        string      `json:"form"`
	Priority    int         `json:"priority"`
	Area        *[4]float64 `json:"area"` // west, south, east, north; null: everywhere
	Attribution string      `json:"attribution"`
}

// Run lists the upstreams.
func (c *upstreamListCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	shown := make([]upstreamJSON, len(cfg.Upstreams))
	rows := [][]string{{"NAME", "URL", "FORM", "PRIORITY", "AREA"}}
	for i := range cfg.Upstreams {
		u := &cfg.Upstreams[i]
		shown[i] = upstreamJSON{u.Name, u.URL, u.Form, u.Priority, u.Area, u.Attribution}
		rows = append(rows, []string{u.Name, u.URL, u.Form, strconv.Itoa(u.Priority), describeArea(u.Area)})
	}
	if c.JSON {
		return p.writeJSON(shown)
	}
	return p.writeTable(rows)
}

func describeArea(area *[4]float64) string {
	if area == nil {
		return "everywhere"
	}
	return strings.Trim(fmt.Sprint(*area), "[]")
}

type upstreamCheckCmd struct {
	configFlags
	JSON   bool    `name:"json" help:"Print JSON."`
	Name   string  `arg:"" optional:"" help:"Name of the upstream (default: all)."`
	At     string  `name:"at" placeholder:"LAT,LNG" help:"Position to query (default: the centre of the upstream's area, or 0,0)."`
	Radius float64 `name:"radius" default:"5000" placeholder:"METRES" help:"Radius of the query (default 5000)."`
}

// checkedJSON is the result of a check in the output of --json.
type checkedJSON struct {
	Name    string         `json:"name"`
	OK      bool           `json:"ok"`
	Outcome string         `json:"outcome"`
	Status  int            `json:"status,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	TookMS  int64          `json:"took_ms"`
	Pins    int            `json:"pins"`
	Dropped map[string]int `json:"dropped"`
}

// Run calls the upstreams. It exits with 1 if one of them fails.
func (c *upstreamCheckCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	chosen, err := c.chosen(cfg)
	if err != nil {
		return err
	}
	all := make([]checkedJSON, 0, len(chosen))
	rows := [][]string{{"NAME", "OUTCOME", "TOOK", "PINS", "DROPPED"}}
	failed := false
	for _, u := range chosen {
		circle, err := c.circle(u)
		if err != nil {
			return err
		}
		tried, err := service.TryUpstream(p.ctx, cfg, version, u, circle)
		if err != nil {
			return err
		}
		one := checkedJSON{
			u.Name, tried.Outcome == mapdata.OutcomeOK, string(tried.Outcome), tried.Status, string(tried.Reason),
			tried.Took.Milliseconds(), tried.Pins, tried.Dropped,
		}
		failed = failed || !one.OK
		all = append(all, one)
		rows = append(rows, []string{u.Name, describeOutcome(tried), tried.Took.Round(time.Millisecond).String(), strconv.Itoa(one.Pins), describeDropped(one.Dropped)})
	}
	if c.JSON {
		err = p.writeJSON(all)
	} else {
		err = p.writeTable(rows)
	}
	if err == nil && failed {
		return errQuiet
	}
	return err
}

func (c *upstreamCheckCmd) chosen(cfg *config.Config) ([]*config.Upstream, error) {
	var chosen []*config.Upstream
	for i := range cfg.Upstreams {
		if c.Name == "" || cfg.Upstreams[i].Name == c.Name {
			chosen = append(chosen, &cfg.Upstreams[i])
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case c.Name != "":
		return nil, fmt.Errorf("no upstream is named %q in the configuration", c.Name)
	}
	return nil, errors.New("no upstream is configured ([[upstreams]])")
}

// circle returns the area for which the upstream is called.
func (c *upstreamCheckCmd) circle(u *config.Upstream) (service.Circle, error) {
	if !(c.Radius > 0 && c.Radius <= 50_000) {
		return service.Circle{}, fmt.Errorf("%w--radius: must be more than 0 and at most 50000", errUsage)
	}
	circle := service.Circle{Radius: c.Radius}
	switch {
	case c.At != "":
		lat, lng, _ := strings.Cut(c.At, ",")
		var latErr, lngErr error
		circle.Center.Lat, latErr = strconv.ParseFloat(strings.TrimSpace(lat), 64)
		circle.Center.Lng, lngErr = strconv.ParseFloat(strings.TrimSpace(lng), 64)
		if latErr != nil || lngErr != nil || !(circle.Center.Lat >= -90 && circle.Center.Lat <= 90) || !(circle.Center.Lng >= -180 && circle.Center.Lng <= 180) {
			return service.Circle{}, fmt.Errorf("%w--at: want a latitude and a longitude in degrees, such as 52.37,4.90", errUsage)
		}
	case u.Area != nil:
		west, east := u.Area[0], u.Area[2]
		if west > east { // across the antimeridian
			east += 360
		}
		circle.Center = service.Point{Lat: (u.Area[1] + u.Area[3]) / 2, Lng: (west + east) / 2}
		if circle.Center.Lng > 180 {
			circle.Center.Lng -= 360
		}
	}
	return circle, nil
}

func describeOutcome(t *service.Tried) string {
	text := string(t.Outcome)
	if t.Status != 0 {
		text += " " + strconv.Itoa(t.Status)
	}
	if t.Status == 401 {
		text += " (it refuses the secret)"
	}
	if t.Reason != "" {
		text += " (" + string(t.Reason) + ")"
	}
	return text
}

func describeDropped(dropped map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(dropped)) {
		parts = append(parts, fmt.Sprintf("%d %s", dropped[what], what))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
