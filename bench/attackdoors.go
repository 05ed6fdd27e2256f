package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// attackDoors returns the doors, each with as many workers as the first review used for it at full effort.
func attackDoors() []door {
	return []door{
		{"silent connections", 5000, holdSilently},
		{"slow headers", 4000, sendHeaderSlowly},
		{"slow bodies", 2400, sendBodySlowly},
		{"streams never read", 480, holdStream},
		{"large reads never read", 1200, holdReads},
		{"positions beside the way", 60, leaveTheWay},
		{"match of 500 places", 60, matchTrace},
		{"table of 100 × 100", 60, askTable},
		{"route of 100 places", 60, askRoute},
		{"geocoder", 60, searchPlaces},
		{"tiles", 60, askTiles},
		{"reads of everything", 60, readEverything},
		{"pushes, wrong tokens", 40, pushWithWrongToken},
		{"pushes, right tokens", 24, pushWithRightToken},
		{"check", 24, checkDocuments},
		{"check, mixed text", 4, checkMixedText},
		{"sign-in, codes, passkeys", 40, signIn},
		{"pairing", 40, pairScreens},
		{"reports", 40, reportRoads},
		{"pages of apps and exports", 40, readPages},
		{"HEAD, OPTIONS, large cookies", 60, askOddly},
	}
}

// holdSilently keeps a connection open and sends nothing.
func holdSilently(ctx context.Context, v *visitor) error {
	if err := v.connect(ctx); err != nil {
		return err
	}
	return v.waitForEnd()
}

// waitForEnd reads until the service or the attack ends the connection.
func (v *visitor) waitForEnd() error {
	defer v.close()
	for {
		if _, err := v.reader.ReadByte(); err != nil {
			v.flood.count(v.door, "ended")
			return nil
		}
	}
}

// sendHeaderSlowly sends a header that never ends, one line every two seconds.
func sendHeaderSlowly(ctx context.Context, v *visitor) error {
	defer v.close()
	if err := v.send(ctx, []byte("GET /v2/kinds HTTP/1.1\r\nHost: "+v.flood.Addr+"\r\n")); err != nil {
		return err
	}
	return v.drip(ctx, []byte("X-Filler: "+strings.Repeat("x", 100)+"\r\n"), 2*time.Second)
}

// drip sends a piece repeatedly until the connection or the attack ends.
func (v *visitor) drip(ctx context.Context, piece []byte, every time.Duration) error {
	for ctx.Err() == nil {
		pause(ctx, every)
		if _, err := v.conn.Write(piece); err != nil {
			v.flood.count(v.door, "ended")
			return nil //nolint:nilerr // the service is meant to end it
		}
	}
	return nil
}

// sendBodySlowly announces a body of a push, a match or a form, and sends a little of it every second.
func sendBodySlowly(ctx context.Context, v *visitor) error {
	defer v.close()
	path, kind, head, length := "/v2/navigation/match/v1/driving", jsonType, `{"coordinates":[[`, 500<<10
	switch v.number % 3 {
	case 1:
		path, head, length = "/v2/feeds/"+v.flood.Tokens[v.number%len(v.flood.Tokens)]+"/entities", `[{"external_id":"a`, 8<<20
	case 2:
		path, kind, head, length = "/sign-in", "application/x-www-form-urlencoded", "email=", 60<<10
	}
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, v.flood.Addr, kind, length, head)
	if err := v.send(ctx, []byte(request)); err != nil {
		return err
	}
	return v.drip(ctx, []byte("aaaaaaaaaaaaaaaa"), time.Second)
}

// holdStream opens a stream and never reads it, while one of the visitors pushes rows that the stream reports.
func holdStream(ctx context.Context, v *visitor) error {
	if v.number < len(v.flood.Tokens) && v.number < 2 {
		return pushSmall(ctx, v)
	}
	defer v.close()
	at := v.row()
	if err := v.send(ctx, v.get(fmt.Sprintf("/v2/stream?lat=%.5f&lng=%.5f&radius=20000&limit=1000", at[0], at[1]), "")); err != nil {
		return err
	}
	return v.wait(ctx, 10*time.Second)
}

// wait keeps the connection without reading from it.
func (v *visitor) wait(ctx context.Context, d time.Duration) error {
	pause(ctx, d)
	v.flood.count(v.door, "held")
	return nil
}

// holdReads sends forty requests for large answers on one connection and reads no answer.
func holdReads(ctx context.Context, v *visitor) error {
	defer v.close()
	var requests []byte
	header := []string{"", "Accept-Encoding: gzip\r\n", "Accept-Encoding: zstd\r\n"}[v.number%3]
	for range 40 {
		at := v.row()
		requests = append(requests, v.get(fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=20000&limit=1000&f=geojson", at[0], at[1]), header)...)
	}
	if err := v.send(ctx, requests); err != nil {
		return err
	}
	return v.wait(ctx, 10*time.Second)
}

// searchPlaces asks the geocoder for names that are hard to find.
func searchPlaces(ctx context.Context, v *visitor) error {
	questions := []string{
		"api?q=a", "api?q=" + strings.Repeat("a%20", 90), "api?q=" + strings.Repeat("ab", 95), "api?q=rue%20de%20la%20%25%25", "api?q=Street&limit=50",
		"api?q=%F0%9F%9A%97", "api?q=1%201%201%201%201%201", "api?q=avenue&lat=43.73&lon=7.42&limit=50", "api?q=" + strings.Repeat("z", 200),
		"reverse?lat=%.5f&lon=%.5f&radius=50&limit=50", "api?q=e&bbox=7,43,8,44", "api?q=saint%20st.%20ste&limit=50", "api?q=" + strings.Repeat("%C3%A9", 60),
	}
	question := questions[v.random.IntN(len(questions))]
	if strings.HasPrefix(question, "reverse") {
		at := v.place()
		question = fmt.Sprintf(question, at[0], at[1])
	}
	_, _, err := v.ask(ctx, v.get("/v2/geocode/"+question, ""))
	return err
}

// askTiles asks for tiles of both maps and for ranges of the archive.
func askTiles(ctx context.Context, v *visitor) error {
	at := v.place()
	z := v.random.IntN(15)
	x, y := tileOf(at, z)
	var request []byte
	switch v.random.IntN(5) {
	case 0:
		request = v.get(fmt.Sprintf("/map/world/%d/%d/%d", min(z, 6), x>>max(0, z-6), y>>max(0, z-6)), "Accept-Encoding: gzip\r\n")
	case 1:
		request = v.get("/map/archive.pmtiles", "")
	case 2:
		var ranges []string
		for i := range 400 {
			ranges = append(ranges, strconv.Itoa(i)+"-")
		}
		request = v.get("/map/archive.pmtiles", "Range: bytes="+strings.Join(ranges, ",")+"\r\n")
	default:
		request = v.get(fmt.Sprintf("/map/tiles/%d/%d/%d", z, x, y), "")
	}
	_, _, err := v.ask(ctx, request)
	return err
}

// readEverything reads entities in all forms, sources, alerts and views of the map.
func readEverything(ctx context.Context, v *visitor) error {
	at := v.row()
	here := fmt.Sprintf("lat=%.5f&lng=%.5f", at[0], at[1])
	paths := []string{
		"/v2/entities/nearby?" + here + "&radius=50000&limit=1000&f=geojson&geometry=line", "/v2/entities/nearby?" + here + "&radius=50000&limit=1000",
		"/v2/alerts?" + here + "&heading=90&speed=30", "/v2/sources", "/v2/kinds", "/v2/openapi.json", "/docs", "/", "/v2/regions",
		fmt.Sprintf("/v2/overlay/view?bbox=%.3f,%.3f,%.3f,%.3f&zoom=9", at[1]-1, at[0]-1, at[1]+1, at[0]+1),
		"/v2/navigation/conditions?bbox=6,43,8,45", "/sources", "/v2/overlay/nearest?" + here,
	}
	_, _, err := v.ask(ctx, v.get(paths[v.random.IntN(len(paths))], "Accept-Encoding: gzip, zstd\r\n"))
	return err
}

// readPages reads the pages of apps and the account, and exports.
func readPages(ctx context.Context, v *visitor) error {
	paths := []string{"/apps", "/v2/apps", "/v2/account/apps", "/apps/own", "/v2/account/export", "/v2/feeds", "/feeds", "/account", "/v2/icons/none.png", "/apps/new", "/audit", "/check"}
	_, _, err := v.ask(ctx, v.get(paths[v.random.IntN(len(paths))], v.cookie()+"Accept: text/html\r\n"))
	return err
}

// askOddly sends requests with methods other than GET, and with headers that are nearly too large.
func askOddly(ctx context.Context, v *visitor) error {
	at := v.row()
	path := fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=20000&limit=1000", at[0], at[1])
	var request []byte
	switch v.random.IntN(3) {
	case 0: // http.ReadResponse would wait for a body of the answer to a HEAD, so that the connection ends with it
		defer v.close()
		if err := v.send(ctx, fmt.Appendf(nil, "HEAD %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, v.flood.Addr)); err != nil {
			return err
		}
		v.flood.count(v.door, "HEAD")
		return v.waitForEnd()
	case 1:
		request = fmt.Appendf(nil, "OPTIONS %s HTTP/1.1\r\nHost: %s\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n\r\n", path, v.flood.Addr)
	default:
		request = v.get(path, "Cookie: wayside_session="+strings.Repeat("c", 60<<10)+"\r\n")
	}
	_, _, err := v.ask(ctx, request)
	return err
}
