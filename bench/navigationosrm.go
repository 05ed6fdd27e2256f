package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// osrmRoutes is how many of the routes are also requested from OSRM.
	osrmRoutes = 3000
	// sameShare is by how much the times of two routes may differ if they count as the same: both have the speeds of OSRM's car.
	sameShare = 0.02
)

// besideOSRM compares routes with steps and full geometry with those of an osrm-routed that serves the same extract, in turns.
func (n *navigation) besideOSRM(ctx context.Context) error {
	if n.options.osrm == "" {
		step("NOT COMPARED with OSRM: name an osrm-routed that serves this extract by -osrm URL (make bench BENCH=navigation OSRM=http://127.0.0.1:5000)")
		return nil
	}
	at, err := url.Parse(n.options.osrm)
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return fmt.Errorf("-osrm takes a URL such as http://127.0.0.1:5000, not %q", n.options.osrm)
	}
	var ours, theirs []string
	same := 0
	for _, p := range n.places[:osrmRoutes] {
		path := fmt.Sprintf("/route/v1/driving/%.6f,%.6f;%.6f,%.6f?steps=true&overview=full", p[0].Lng, p[0].Lat, p[1].Lng, p[1].Lat)
		here, err := routeSeconds(ctx, "http://"+n.addr+"/v2/navigation"+path)
		if err != nil {
			return err
		}
		there, err := routeSeconds(ctx, strings.TrimSuffix(n.options.osrm, "/")+path)
		if err != nil {
			return err
		}
		if here == 0 || there == 0 {
			continue // one of the routers finds no route
		}
		if math.Abs(here-there) <= sameShare*there {
			same++
		}
		ours, theirs = append(ours, "/v2/navigation"+path), append(theirs, strings.TrimSuffix(at.Path, "/")+path)
	}
	if len(ours) < roundRequests {
		step("NOT COMPARED with OSRM: it finds so few of the routes that it serves another extract")
		return nil
	}
	our50, our99, their50, their99, err := n.turns(ctx, at.Host, ours, theirs)
	if err != nil {
		return err
	}
	n.table.note(fmt.Sprintf("OSRM's route with steps and full geometry / ours over HTTP, p50 and p99 of %d pairs", len(ours)),
		fmt.Sprintf("%.2f × and %.2f × (%.2f / %.2f ms and %.2f / %.2f ms; %.0f %% of the routes take as long)",
			float64(their50)/float64(our50), float64(their99)/float64(our99), ms(their50), ms(our50), ms(their99), ms(our99), 100*float64(same)/float64(len(ours))))
	return nil
}

// turns sends requests to the service and to another server in turns, and returns the quantiles of both. Each request has a
// separate connection, which is not counted: on a kept one, OSRM's answers wait for a delayed acknowledgement of 40 ms.
func (n *navigation) turns(ctx context.Context, host string, ours, theirs []string) (our50, our99, their50, their99 time.Duration, err error) {
	var here, there []time.Duration
	for i := range ours {
		took, _, err := oneByOne(ctx, n.addr, ours[i:i+1])
		if err != nil {
			return 0, 0, 0, 0, err
		}
		here = append(here, took...)
		if took, _, err = oneByOne(ctx, host, theirs[i:i+1]); err != nil {
			return 0, 0, 0, 0, fmt.Errorf("OSRM: %w", err)
		}
		there = append(there, took...)
	}
	our50, our99 = quantiles(here)
	their50, their99 = quantiles(there)
	return our50, our99, their50, their99, nil
}

// routeSeconds returns the duration of a request's route; 0: there is none.
func routeSeconds(ctx context.Context, address string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var a struct {
		Code   string
		Routes []struct{ Duration float64 }
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return 0, fmt.Errorf("GET %s: %d: %w", address, resp.StatusCode, err)
	}
	if a.Code != "Ok" || len(a.Routes) == 0 {
		return 0, nil
	}
	return a.Routes[0].Duration, nil
}
