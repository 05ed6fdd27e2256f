package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"wayside/internal/drive/alerts/ahead/aheadtest"
	"wayside/internal/drive/nav"
	"wayside/internal/roads/region"
	"wayside/internal/run/demo"
)

// runAhead measures the quality of alerts along roads, over extracts and the demo's town.
func (b *bench) runAhead(ctx context.Context) error {
	town := filepath.Join(b.dir, "town.osm.pbf")
	var out bytes.Buffer
	if err := errors.Join(demo.WriteExtract(&out), os.WriteFile(town, out.Bytes(), 0o600)); err != nil {
		return err
	}
	extracts := []string{town}
	if b.extract != "" {
		extracts = append(strings.Split(b.extract, ","), town)
	} else {
		step("SKIPPED: Milan and Malta. Name extracts by -extract FILE.osm.pbf,FILE.osm.pbf, or set WAYSIDE_TEST_OSM to a folder with milan-otp.osm.pbf and malta-gh.osm.pbf")
	}
	for _, extract := range extracts {
		if err := b.aheadOn(ctx, extract); err != nil {
			return err
		}
	}
	return nil
}

// aheadOn simulates drives through one extract.
func (b *bench) aheadOn(ctx context.Context, extract string) error {
	name, _, _ := strings.Cut(filepath.Base(extract), ".")
	step("importing " + name)
	folder := region.Folder(filepath.Join(b.dir, "ahead", name))
	if err := os.MkdirAll(string(folder), 0o700); err != nil {
		return err
	}
	done, err := region.Import(ctx, region.ImportOptions{Folder: folder, Files: []string{extract}, Without: region.ProductNames()})
	if err != nil {
		return err
	}
	r, err := region.Read(ctx, folder.Path(done.ID))
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(r) // the graph is in its memory mapping
	routes, err := aheadNetwork(ctx, r)
	if err != nil {
		return err
	}
	step("driving through " + name)
	result, err := aheadtest.Run(ctx, aheadtest.Roads{Graph: r.Graph, Index: r.Index}, routes, b.routes, 1)
	if err != nil {
		return err
	}
	b.addAhead(name, result)
	return nil
}

// addAhead adds the results to the table.
func (b *bench) addAhead(name string, r *aheadtest.Result) {
	slices.Sort(r.Took)
	b.table.note(name, fmt.Sprintf("%d routes, %.0f km, %d fixes", r.Routes, r.Metres/1000, r.Fixes))
	p99 := r.Took[len(r.Took)*99/100]
	b.table.add(name+", looking along the roads, p99", "≤ 1 ms", fmt.Sprintf("%.2f ms", float64(p99)/float64(time.Millisecond)), p99 <= time.Millisecond)
	b.table.add(name+", on the right arc", "≥ 98 %", percent(r.Matched, r.Fixes), 100*r.Matched >= 98*r.Fixes)
	led := &r.Guidance
	b.table.add(name+", turns that are announced before their point", "all", fmt.Sprintf("%d of %d", led.Announced, led.Turns), led.Announced == led.Turns)
	b.table.add(name+", turns that are announced twice", "none", fmt.Sprintf("%d of %d", led.Twice, led.Turns), led.Twice == 0)
	b.table.add(name+", turns announced that are not there", "none", fmt.Sprintf("%d of %d", led.NotThere, led.Told), led.NotThere == 0)
	b.table.add(name+", drives led another way though they never left it", "none", fmt.Sprintf("%d of %d", led.Rerouted, led.Drives), led.Rerouted == 0)
	cone, circle := &r.Counts[aheadtest.Cone], &r.Counts[aheadtest.Circle]
	for m := range aheadtest.Methods {
		c := &r.Counts[m]
		what := name + ", " + m.String()
		b.table.note(what+": of what is on the route", fmt.Sprintf("%s of %d announced, %s within a fifth of the lead; %s and %s where the way is the usual one",
			percent(c.Announced, c.Expected), c.Expected, percent(c.InTime, c.Expected), percent(c.Known, c.Straight), percent(c.KnownTime, c.Straight)))
		b.table.note(what+": false", fmt.Sprintf("%d (%.2f %% of all): opposite %d of %d, parallel %d of %d, crossing %d of %d, beyond a junction %d of %d", c.AllFalse(), 100*c.FalseShare(),
			c.False[aheadtest.Opposite], c.Decoys[aheadtest.Opposite], c.False[aheadtest.Parallel], c.Decoys[aheadtest.Parallel],
			c.False[aheadtest.Crossing], c.Decoys[aheadtest.Crossing], c.False[aheadtest.Beyond], c.Decoys[aheadtest.Beyond]))
		if m != aheadtest.Session && m != aheadtest.Probable {
			continue
		}
		mine := float64(max(1, c.AllFalse()))
		byCircle, byCone := float64(circle.AllFalse())/mine, float64(cone.AllFalse())/mine
		b.table.add(what+": recall", "≥ 99 %", percent(c.Announced, c.Expected), 100*c.Announced >= 99*c.Expected)
		b.table.add(what+": false alerts", "≤ 1 %", fmt.Sprintf("%.2f %%", 100*c.FalseShare()), c.FalseShare() <= 0.01)
		b.table.add(what+": fewer false ones than the circle", "≥ 20 ×", fmt.Sprintf("%.1f ×", byCircle), byCircle >= 20)
		b.table.add(what+": fewer false ones than the cone", "≥ 5 ×", fmt.Sprintf("%.1f ×", byCone), byCone >= 5)
	}
}

func percent(n, of int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(max(1, of))) }

// aheadNetwork returns navigation over a region in this process.
func aheadNetwork(ctx context.Context, r *region.Region) (*nav.Service, error) {
	live, err := nav.NewLive(ctx, nav.NewRoads(r.Graph, r.Index, r.DataVersion), r.Topology)
	if err != nil {
		return nil, err
	}
	return nav.New(live.Network), nil
}
