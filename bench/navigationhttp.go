package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// requestsMeasured is the number of routes requested over HTTP, one after the other; after roundRequests of them it is the bare
// handler's turn.
const (
	requestsMeasured = 10_000
	roundRequests    = 500
)

// The number of closures that are pushed, one after the other, and how long the bench waits for a route around one.
const (
	closuresMeasured = 200
	closureTimeout   = 2 * time.Second
	closureID        = "bench:closure"
)

// The rows that change while routes are requested.
const (
	changedRows     = 500 // a second
	pushesPerSecond = 10
	jammedPlaces    = 2000
)

// randomPlaces returns pairs of places on the largest island.
func randomPlaces(g *graph.Graph, count int) [][2]geo.Point {
	random := rand.New(rand.NewPCG(5, 6))
	places := make([][2]geo.Point, count)
	for i := range places {
		places[i] = [2]geo.Point{randomPlace(g, random), randomPlace(g, random)}
	}
	return places
}

// routePaths returns requests for routes between places.
func routePaths(places [][2]geo.Point) []string {
	paths := make([]string, len(places))
	for i, p := range places {
		paths[i] = fmt.Sprintf("/v2/navigation/route/v1/driving/%.6f,%.6f;%.6f,%.6f?steps=false&overview=full", p[0].Lng, p[0].Lat, p[1].Lng, p[1].Lat)
	}
	return paths
}

// randomPlace returns the middle of the first segment of a random road.
func randomPlace(g *graph.Graph, random *rand.Rand) geo.Point {
	line := g.PieceLine(g.Arcs[randomArc(g, random)].Piece)
	return middle(line[0].Point(), line[1].Point())
}

func middle(a, b geo.Point) geo.Point {
	return geo.Point{Lat: (a.Lat + b.Lat) / 2, Lng: (a.Lng + b.Lng) / 2}
}

// answer sends a request to the service, and returns the status and the body.
func (b *bench) answer(ctx context.Context, path string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// found requests a route that must exist.
func (n *navigation) found(ctx context.Context, path string) error {
	status, text, err := n.answer(ctx, path)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d: %s", path, status, text)
	}
	return err
}

// oneByOne sends requests on one keep-alive connection, each after the answer to the one before.
func oneByOne(ctx context.Context, addr string, paths []string) (took []time.Duration, bytes int, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close() //nolint:errcheck // the client is done
	reader := bufio.NewReaderSize(conn, 128<<10)
	for _, path := range paths {
		request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return nil, 0, err
		}
		size, err := readAnswer(reader)
		if err != nil {
			return nil, 0, fmt.Errorf("GET %s: %w", path, err)
		}
		took = append(took, time.Since(began))
		bytes += size
	}
	return took, bytes, nil
}

// httpAnswer is a kind of measured answer.
type httpAnswer struct {
	what, profile string
	goal50, goal  time.Duration
}

// httpRoutes measures answers with full geometry, without guidance and with all of it.
func (n *navigation) httpRoutes(ctx context.Context) (err error) {
	plain := httpAnswer{"answer with full geometry", "routes", 600 * time.Microsecond, 2500 * time.Microsecond}
	if n.p50, err = n.besideBare(ctx, n.routes, plain); err != nil {
		return err
	}
	free, err := load(ctx, n.addr, n.routes, n.round)
	if err != nil {
		return err
	}
	n.table.note(n.name+"routes at rest, as long as there was no condition", fmt.Sprintf("%.0f/s", free.perSecond()))
	return nil
}

// httpGuidance measures answers with all guidance for a driver.
func (n *navigation) httpGuidance(ctx context.Context) (err error) {
	guided := httpAnswer{"answer with steps, full geometry, banners and voice", "guidance", 800 * time.Microsecond, 3 * time.Millisecond}
	paths := make([]string, len(n.routes))
	for i, path := range n.routes {
		paths[i] = strings.Replace(path, "steps=false", "steps=true", 1) + "&banner_instructions=true&voice_instructions=true&language=it"
	}
	n.guided50, err = n.besideBare(ctx, paths, guided)
	return err
}

// besideBare compares answers with those of the baseline handler, in turns, and returns the median.
func (n *navigation) besideBare(ctx context.Context, paths []string, a httpAnswer) (median time.Duration, err error) {
	_, size, err := oneByOne(ctx, n.addr, paths[:warmingRequests])
	if err != nil {
		return 0, err
	}
	size /= warmingRequests
	bare, err := startBare(ctx, size)
	if err != nil {
		return 0, err
	}
	defer bare.stop()
	slashes := slices.Repeat([]string{"/"}, roundRequests)
	var ours, theirs []time.Duration
	profiled := n.profile(ctx, a.profile)
	for round := range slices.Chunk(paths, roundRequests) {
		fixed, _, err := oneByOne(ctx, bare.addr, slashes)
		if err != nil {
			return 0, err
		}
		routes, _, err := oneByOne(ctx, n.addr, round)
		if err != nil {
			return 0, err
		}
		ours, theirs = append(ours, routes...), append(theirs, fixed...)
	}
	if err := profiled(); err != nil {
		return 0, err
	}
	p50, p99 := quantiles(ours)
	bare50, bare99 := quantiles(theirs)
	what := fmt.Sprintf(n.name+"%s (%d bytes) above a bare handler, p50 / p99", a.what, size)
	got := fmt.Sprintf("%.2f / %.2f ms (%.2f / %.2f less %.2f / %.2f)", ms(p50-bare50), ms(p99-bare99), ms(p50), ms(p99), ms(bare50), ms(bare99))
	if n.name == "" {
		n.table.add(what, fmt.Sprintf("≤ %g / %g ms", ms(a.goal50), ms(a.goal)), got, p50-bare50 <= a.goal50 && p99-bare99 <= a.goal)
	} else {
		n.table.note(what, got) // the lines of its routes are several times as long
	}
	return p50, nil
}

// routeAnswer is the part of an answer that the bench reads.
type routeAnswer struct {
	Code   string
	Routes []struct {
		Geometry struct{ Coordinates [][2]float64 }
	}
}

func (n *navigation) route(ctx context.Context, path string) (*routeAnswer, error) {
	status, text, err := n.answer(ctx, path)
	if err != nil {
		return nil, err
	}
	a := new(routeAnswer)
	if err := json.Unmarshal(text, a); err != nil || status != http.StatusOK && a.Code != "NoRoute" {
		return nil, errors.Join(err, fmt.Errorf("GET %s: %d: %s", path, status, text))
	}
	return a, nil
}

// segment is a part of a route, from one position to the next.
type segment [2][2]float64

// middle returns the place half-way along the segment.
func (s segment) middle() geo.Point {
	return middle(geo.Point{Lng: s[0][0], Lat: s[0][1]}, geo.Point{Lng: s[1][0], Lat: s[1][1]})
}

// leads reports whether the route leads over a segment.
func (a *routeAnswer) leads(over segment) bool {
	if len(a.Routes) == 0 {
		return false
	}
	line := a.Routes[0].Geometry.Coordinates
	for i := 1; i < len(line); i++ {
		if line[i-1] == over[0] && line[i] == over[1] {
			return true
		}
	}
	return false
}

// closures closes the middle of a route, and requests the route until it leads around, repeatedly.
func (n *navigation) closures(ctx context.Context) error {
	var waits []time.Duration
	unseen := 0
	profiled := n.profile(ctx, "closures")
	for i := 0; len(waits)+unseen < closuresMeasured; i++ {
		path := n.routes[i%len(n.routes)] + "&geometries=geojson"
		on, ok, err := n.middleOfRoute(ctx, path)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		wait, err := n.closure(ctx, path, on)
		if err != nil {
			return err
		}
		if wait < 0 {
			unseen++
			continue
		}
		waits = append(waits, wait)
	}
	if err := profiled(); err != nil {
		return err
	}
	if len(waits) == 0 {
		return errors.New("no route ever led around a closure")
	}
	p50, p99 := quantiles(waits)
	n.table.add(n.name+"from the 200 of a closure's push to a route around it, p99", fmt.Sprintf("≤ %.0f ms", ms(n.closed)),
		fmt.Sprintf("%.1f ms (median %.1f; %d of %d never)", ms(p99), ms(p50), unseen, closuresMeasured), p99 <= n.closed && unseen == 0)
	return nil
}

// middleOfRoute returns the segment in the middle of a route; false if the route is so short that the segment would be at its start
// or end.
func (n *navigation) middleOfRoute(ctx context.Context, path string) (segment, bool, error) {
	route, err := n.route(ctx, path)
	if err != nil || len(route.Routes) == 0 || len(route.Routes[0].Geometry.Coordinates) < 20 {
		return segment{}, false, err
	}
	line := route.Routes[0].Geometry.Coordinates
	return segment{line[len(line)/2-1], line[len(line)/2]}, true, nil
}

// closureRow returns a batch of one closure. At {0, 0} it is far from all roads.
func closureRow(at geo.Point) []byte {
	return fmt.Appendf(nil, `[{"external_id":%q,"kind":"alert.road_closed","lat":%.7f,"lng":%.7f,"properties":{}}]`, closureID, at.Lat, at.Lng)
}

// closure pushes a closure, returns after how long the route leads around it, or -1, and removes it again.
func (n *navigation) closure(ctx context.Context, path string, on segment) (time.Duration, error) {
	if err := n.push(ctx, n.feeds[0], closureRow(on.middle()), 1); err != nil {
		return 0, err
	}
	wait, err := n.awaitRoute(ctx, path, on, false)
	if err != nil {
		return 0, err
	}
	if err := n.push(ctx, n.feeds[0], closureRow(geo.Point{}), 1); err != nil {
		return 0, err
	}
	if _, err := n.awaitRoute(ctx, path, on, true); err != nil {
		return 0, err
	}
	return wait, nil
}

// awaitRoute requests a route until it leads over a segment, or until it does not. It returns -1 if that never happens.
func (n *navigation) awaitRoute(ctx context.Context, path string, over segment, leads bool) (time.Duration, error) {
	began := time.Now()
	for time.Since(began) < closureTimeout {
		a, err := n.route(ctx, path)
		if err != nil {
			return 0, err
		}
		if a.leads(over) == leads {
			return time.Since(began), nil
		}
	}
	return -1, nil
}

// besidePushes compares the rate of routes at rest with that while jams at random places change, in turns.
func (n *navigation) besidePushes(ctx context.Context) error {
	random := rand.New(rand.NewPCG(7, 8))
	places := make([]geo.Point, jammedPlaces)
	for i := range places {
		places[i] = randomPlace(n.region.Graph, random)
	}
	if err := n.push(ctx, n.feeds[1], jams(places, 0, len(places), random), len(places)); err != nil { // both sides need conditions
		return err
	}
	time.Sleep(time.Second) // until they are on the roads
	var ratios, rest, pushed, rates []float64
	for range n.rounds {
		alone, err := load(ctx, n.addr, n.routes, n.round)
		if err != nil {
			return err
		}
		profiled := n.profile(ctx, "routes-beside-pushes")
		stop := n.pushJams(ctx, places, random)
		beside, err := load(ctx, n.addr, n.routes, n.round)
		rate, pushErr := stop()
		if err := errors.Join(err, pushErr, profiled()); err != nil {
			return err
		}
		ratios = append(ratios, beside.perSecond()/alone.perSecond())
		rest, pushed, rates = append(rest, alone.perSecond()), append(pushed, beside.perSecond()), append(rates, rate)
	}
	ratio, rate := median(ratios), median(rates)
	n.table.add(fmt.Sprintf("routes while %d rows/s change / at rest with %d conditions", changedRows, jammedPlaces), "≥ 80 %",
		fmt.Sprintf("%.0f %% (%.0f of %.0f/s, at %.0f rows/s)", ratio*100, median(pushed), median(rest), rate), ratio >= 0.8 && rate >= 0.95*changedRows)
	return nil
}

// pushJams pushes changes at a steady rate until stop is called, which returns how many rows a second were accepted.
func (n *navigation) pushJams(ctx context.Context, places []geo.Point, random *rand.Rand) (stop func() (float64, error)) {
	ctx, cancel := context.WithCancel(ctx)
	type outcome struct {
		rate float64
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		ticker := time.NewTicker(time.Second / pushesPerSecond)
		defer ticker.Stop()
		const perPush = changedRows / pushesPerSecond
		began, rows := time.Now(), 0
		var err error
		for err == nil {
			select {
			case <-ctx.Done():
				ended <- outcome{float64(rows) / time.Since(began).Seconds(), nil}
				return
			case <-ticker.C:
				err = n.push(context.WithoutCancel(ctx), n.feeds[1], jams(places, rows%len(places), perPush, random), perPush)
				rows += perPush
			}
		}
		ended <- outcome{0, err}
	}()
	return func() (float64, error) {
		cancel()
		o := <-ended
		return o.rate, o.err
	}
}

// jams encodes jams at some of the places, each with another speed than before.
func jams(places []geo.Point, first, count int, random *rand.Rand) []byte {
	dst := []byte{'['}
	for i := first; i < min(first+count, len(places)); i++ {
		if i > first {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"external_id":"bench:jam:%d","kind":"traffic.jam","lat":%.6f,"lng":%.6f,"properties":{"speed_kmh":%.2f}}`,
			i, places[i].Lat, places[i].Lng, 3+30*random.Float64())
	}
	return append(dst, ']')
}
