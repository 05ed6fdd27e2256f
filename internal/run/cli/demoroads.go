package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/region"
	"wayside/internal/run/datadir"
	"wayside/internal/run/demo"
)

// importRoads imports the region of the demo's routes, from the file that the visitor names or from the town.
func (c *demoCmd) importRoads(p *program, dir, dataDir string) (*region.Imported, error) {
	o := region.ImportOptions{Folder: region.Folder(filepath.Join(dataDir, datadir.RegionFolder)), Files: []string{c.Region}}
	if c.Region == "" {
		town := filepath.Join(dir, "town.osm.pbf")
		if err := writeDemoFile(town, demo.WriteExtract); err != nil {
			return nil, err
		}
		o.Files, o.Attribution, o.Licence = []string{town}, demo.MapAttribution, demo.ExtractLicence
	} else {
		p.printf("Wayside demo: importing the roads of %s …\n", printable(c.Region))
	}
	done, err := region.Import(p.ctx, o)
	if err != nil {
		return nil, oneLine(err)
	}
	return done, nil
}

// writeDemoFile writes a part of the town to a file.
func writeDemoFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// trip returns the trip for which the welcome suggests a route. found is false if a real region has no roads at the places that the
// demo tries.
func (d *demoRun) trip(ctx context.Context) (t demo.Trip, found bool) {
	if !d.real {
		return demo.TownTrip(), true
	}
	b := d.region.Bounds
	at := func(east, north float64) geo.Point {
		return rounded(b[1]+north*(b[3]-b[1]), b[0]+east*(b[2]-b[0]))
	}
	for _, ends := range [][2]geo.Point{
		{at(0.2, 0.2), at(0.8, 0.8)}, {at(0.2, 0.8), at(0.8, 0.2)}, {at(0.2, 0.5), at(0.8, 0.5)}, {at(0.5, 0.2), at(0.5, 0.8)}, {at(0.4, 0.4), at(0.6, 0.6)},
	} {
		t.From, t.To = ends[0], ends[1]
		if t.Bridge, t.Street, found = middleOfRoute(ctx, d.service.URL(), t); found {
			return t, true
		}
	}
	return t, false
}

// routeTimeout bounds a request for a route.
const routeTimeout = 10 * time.Second

// middleOfRoute requests a route and returns the place where half of its time has passed, and the street there.
func middleOfRoute(ctx context.Context, base string, t demo.Trip) (at geo.Point, street string, found bool) {
	ctx, cancel := context.WithTimeout(ctx, routeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, routeURL(base, t)+"?steps=true&overview=false&geometries=geojson", http.NoBody)
	if err != nil {
		return at, "", false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return at, "", false
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	var answer struct {
		Routes []struct {
			Legs []struct {
				Steps []struct {
					Name     string `json:"name"`
					Geometry struct {
						Coordinates [][2]float64 `json:"coordinates"`
					} `json:"geometry"`
				} `json:"steps"`
			} `json:"legs"`
		} `json:"routes"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(&answer); err != nil || len(answer.Routes) == 0 {
		return at, "", false
	}
	var route []stretch
	total := 0.0
	for _, leg := range answer.Routes[0].Legs {
		for _, step := range leg.Steps {
			for i := 1; i < len(step.Geometry.Coordinates); i++ {
				s := stretch{step.Name, pointOf(step.Geometry.Coordinates[i-1]), pointOf(step.Geometry.Coordinates[i])}
				route, total = append(route, s), total+s.metres()
			}
		}
	}
	passed := 0.0
	for _, s := range route {
		if passed += s.metres(); passed > total/2 {
			return rounded((s.from.Lat+s.to.Lat)/2, (s.from.Lng+s.to.Lng)/2), s.street, true
		}
	}
	return at, "", false
}

// stretch is a straight part of a route.
type stretch struct {
	street   string
	from, to geo.Point
}

func (s stretch) metres() float64 { return geo.Distance(s.from, s.to) }

func pointOf(c [2]float64) geo.Point { return geo.Point{Lat: c[1], Lng: c[0]} }

// rounded returns a place rounded to about a metre.
func rounded(lat, lng float64) geo.Point {
	const metre = 1e5
	return geo.Point{Lat: math.Round(lat*metre) / metre, Lng: math.Round(lng*metre) / metre}
}

func routeURL(base string, t demo.Trip) string {
	return fmt.Sprintf("%s/v2/navigation/route/v1/driving/%g,%g;%g,%g", base, t.From.Lng, t.From.Lat, t.To.Lng, t.To.Lat)
}

// roadsText describes how to request a route, and how to close a road on it.
func (d *demoRun) roadsText(ctx context.Context, push string) string {
	t, found := d.trip(ctx)
	if !found {
		return "\nRoutes lead along the roads of your region; the demo found none between places in its middle.\n"
	}
	what := "the bridge"
	if d.real {
		what = "a street"
	}
	via := t.Street
	if via == "" {
		via = "a street without a name"
	}
	row := func(ttl int) string {
		return fmt.Sprintf(`[{"external_id":"my-closure","kind":"alert.road_closed","lat":%g,"lng":%g,"properties":{},"ttl_seconds":%d}]`, t.Bridge.Lat, t.Bridge.Lng, ttl)
	}
	const post = "  curl '%s/v2/feeds/%s/entities' -H 'Content-Type: application/json' -d '%s'\n"
	route := "  curl '" + routeURL(d.base, t) + "?overview=false&skip_waypoints=true'\n"
	text := "\nAsk for a route across " + what + " (" + printable(via) + "), close it with the push token of the town's live feed, ask again, and open it:\n\n" +
		route + fmt.Sprintf(post, d.base, push, row(closureTTL)) + route + fmt.Sprintf(post, d.base, push, row(1)) +
		"\nOr dispute the closure on the map as the driver: until others confirm it, it only counts as five minutes of delay."
	text += "\n\nRead what a driver is shown and told (language=it for Italian), and be led: a session says when the closure changes the way:\n\n" + d.guidanceLines(t)
	text += "\nSearch for an address, with a typo, and ask what is at a place:\n\n" + d.searchLines(t)
	if d.real {
		return text + fmt.Sprintf("\nThe roads are %s: %s\n", region.Attribution, region.AttributionURL)
	}
	return text + "\nThe bridge of the harbour opens for ships by itself.\n"
}

// guidanceLines returns commands that request a route with banners and announcements, and a session with its events.
func (d *demoRun) guidanceLines(t demo.Trip) string {
	sessions := d.base + "/v2/navigation/sessions"
	return "  curl '" + routeURL(d.base, t) + "?overview=false&steps=true&banner_instructions=true&voice_instructions=true&language=en'\n" +
		fmt.Sprintf(`  id=$(curl -s '%[1]s' -H 'Content-Type: application/json' -d '{"coordinates":[[%[2]g,%[3]g],[%[4]g,%[5]g]]}' | sed 's/^{"code":"Ok","id":"\([^"]*\).*/\1/'); curl -N "%[1]s/$id/events"`+"\n",
			sessions, t.From.Lng, t.From.Lat, t.To.Lng, t.To.Lat)
}

// searchLines returns commands that call the place search: with 9th Avenue 40 of the town, misspelt, or with the street of a trip.
func (d *demoRun) searchLines(t demo.Trip) string {
	name := "9th Avneue 40"
	if d.real {
		name = t.Street
	}
	return fmt.Sprintf("  curl '%[1]s/v2/geocode/api?%[2]s&limit=3&lat=%[3]g&lon=%[4]g'\n  curl '%[1]s/v2/geocode/reverse?lat=%[3]g&lon=%[4]g'\n",
		d.base, url.Values{"q": {cmp.Or(name, "street")}}.Encode(), t.From.Lat, t.From.Lng)
}

// closureTTL is how long the visitor's closure lasts unless it is removed, in seconds.
const closureTTL = 600
