package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"wayside/internal/ground/geo"
)

const (
	// routinoRoutes is how many of the routes are also requested from Routino: each takes a process.
	routinoRoutes = 200
	routinoPrefix = "peer"
)

// peers compares the service with other routers, if they are installed, with the same extract and the same pairs of places.
func (n *navigation) peers(ctx context.Context) error {
	if !installed("planetsplitter") || !installed("routino-router") {
		step("NOT COMPARED with Routino: planetsplitter and routino-router are not installed (Debian's package routino has both)")
		return nil
	}
	return n.besideRoutino(ctx)
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// besideRoutino compares the import and routes. Routino has no server: a process finds one route, and the time of a process for a
// route from a place to itself is subtracted.
func (n *navigation) besideRoutino(ctx context.Context) error {
	dir := filepath.Join(n.dir, "routino")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	began := time.Now()
	split := exec.CommandContext(ctx, "planetsplitter", "--loggable", "--dir="+dir, "--prefix="+routinoPrefix, n.extract)
	peak, err := runWatched(split)
	if err != nil {
		return fmt.Errorf("planetsplitter: %w", err)
	}
	took := time.Since(began).Seconds()
	n.table.note("Routino's import / ours of the roads", fmt.Sprintf("%.1f × (%.1f s / %.1f s; %.0f MB of memory)", took/n.took, took, n.took, peak/1e6))
	var routes, guided, starts []time.Duration
	failed := 0
	for _, pair := range n.places[:routinoRoutes] {
		start, _, err := routino(ctx, dir, pair[0], pair[0], "--output-none")
		if err != nil {
			return err
		}
		route, found, err := routino(ctx, dir, pair[0], pair[1], "--output-none")
		if err != nil {
			return err
		}
		if !found {
			failed++
			continue
		}
		told, _, err := routino(ctx, dir, pair[0], pair[1], "--output-html", "--output-gpx-track")
		if err != nil {
			return err
		}
		starts, routes, guided = append(starts, start), append(routes, route), append(guided, told)
	}
	if len(routes) == 0 {
		step("NOT COMPARED with Routino: it found none of the routes")
		return nil
	}
	theirs, slowest := quantiles(routes)
	empty, _ := quantiles(starts)
	alone := theirs - empty
	n.table.note(fmt.Sprintf("Routino's route / ours over HTTP, p50 of %d pairs", len(routes)), fmt.Sprintf("%.0f × (%.1f ms, p99 %.1f, less %.1f for the process / %.2f ms; it found no route for %d)",
		float64(alone)/float64(n.p50), ms(theirs), ms(slowest), ms(empty), ms(n.p50), failed))
	if n.guided50 > 0 {
		told, _ := quantiles(guided)
		times := float64(told-empty) / float64(n.guided50)
		n.table.add("Routino's route with directions and track / ours over HTTP with all guidance, p50", "≥ 50 ×", fmt.Sprintf("%.0f × (%.1f ms less %.1f / %.2f ms; %.0f × its route without either)",
			times, ms(told), ms(empty), ms(n.guided50), float64(alone)/float64(n.guided50)), times >= 50)
	}
	return nil
}

// routino finds one route in a separate process, and returns how long that took. The process writes the given outputs into the
// folder.
func routino(ctx context.Context, dir string, from, to geo.Point, outputs ...string) (took time.Duration, found bool, err error) {
	cmd := exec.CommandContext(ctx, "routino-router", append([]string{
		"--dir=" + dir, "--prefix=" + routinoPrefix, "--profiles=/usr/share/routino/profiles.xml", "--translations=/usr/share/routino/translations.xml",
		"--transport=motorcar", "--quickest", "--quiet",
		fmt.Sprintf("--lon1=%.6f", from.Lng), fmt.Sprintf("--lat1=%.6f", from.Lat), fmt.Sprintf("--lon2=%.6f", to.Lng), fmt.Sprintf("--lat2=%.6f", to.Lat),
	}, outputs...)...)
	cmd.Dir = dir
	began := time.Now()
	err = cmd.Run()
	took = time.Since(began)
	if _, exited := err.(*exec.ExitError); exited && ctx.Err() == nil { //nolint:errorlint // Run returns it as it is
		return took, false, nil
	}
	return took, err == nil, err
}
