package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"

	"wayside/internal/ground/token"
)

// tileOf returns the tile of a zoom in which a place lies.
func tileOf(at [2]float64, z int) (x, y int) {
	n := math.Exp2(float64(z))
	lat := at[0] * math.Pi / 180
	return int((at[1] + 180) / 360 * n), int((1 - math.Asinh(math.Tan(lat))/math.Pi) / 2 * n)
}

// leaveTheWay opens drives of 100 places, and then sends positions off their routes.
func leaveTheWay(ctx context.Context, v *visitor) error {
	if v.session == "" || v.random.IntN(20) == 0 {
		body := fmt.Appendf(nil, `{"coordinates":%s,"steps":true,"overview":"full"}`, v.coordinates(100))
		status, answer, err := v.ask(ctx, v.post("POST", "/v2/navigation/sessions", jsonType, "", body))
		if err != nil {
			return err
		}
		if _, rest, found := strings.Cut(string(answer), `"id":"`); found && status == 201 {
			v.session, _, _ = strings.Cut(rest, `"`)
		}
		if v.session == "" {
			return nil
		}
	}
	at := v.place()
	body := fmt.Appendf(nil, `{"lat":%.6f,"lng":%.6f}`, at[0], at[1])
	status, _, err := v.ask(ctx, v.post("PUT", "/v2/navigation/sessions/"+v.session+"/position", jsonType, "", body))
	if status == 404 {
		v.session = ""
	}
	return err
}

func matchTrace(ctx context.Context, v *visitor) error {
	radiuses := strings.TrimSuffix(strings.Repeat("1000000000,", 500), ",")
	body := fmt.Appendf(nil, `{"coordinates":%s,"radiuses":[%s]}`, v.coordinates(500), radiuses)
	_, _, err := v.ask(ctx, v.post("POST", "/v2/navigation/match/v1/driving", jsonType, "", body))
	return err
}

func askTable(ctx context.Context, v *visitor) error {
	body := fmt.Appendf(nil, `{"coordinates":%s,"annotations":["duration","distance"]}`, v.coordinates(100))
	_, _, err := v.ask(ctx, v.post("POST", "/v2/navigation/table/v1/driving", jsonType, "", body))
	return err
}

func askRoute(ctx context.Context, v *visitor) error {
	body := fmt.Appendf(nil, `{"coordinates":%s,"steps":true,"annotations":true,"geometries":"geojson","overview":"full","alternatives":3}`, v.coordinates(100))
	_, _, err := v.ask(ctx, v.post("POST", "/v2/navigation/route/v1/driving", jsonType, "", body))
	return err
}

// rowMaker makes rows around places.
type rowMaker struct {
	random *rand.Rand
	around [][2]float64
}

// rowSpread is how far rows may be from their places, in degrees.
const rowSpread = 0.1

// batch returns count rows, each with the given bytes of properties. Their ids are those of the rows that the feeds hold at rest,
// because other limits bound what feeds store, and that is not a cost of the flood. Rows of their kinds are not merged.
func (m *rowMaker) batch(count, bytes int) []byte {
	kinds := []string{"camera.speed", "camera.red_light", "charger.destination"}
	filler := strings.Repeat("f", bytes)
	dst := append(make([]byte, 0, count*(bytes+160)), '[')
	for i := range count {
		if i > 0 {
			dst = append(dst, ',')
		}
		at := m.around[m.random.IntN(len(m.around))]
		dst = fmt.Appendf(dst, `{"external_id":"a:%d","kind":"%s","lat":%.6f,"lng":%.6f,"properties":{"note":"%s","v":%d}}`,
			i, kinds[i%len(kinds)], at[0]+m.random.NormFloat64()*rowSpread, at[1]+m.random.NormFloat64()*rowSpread, filler, m.random.IntN(1e9))
	}
	return append(dst, ']')
}

func (v *visitor) pushRows(count, bytes int) []byte {
	m := rowMaker{v.random, v.flood.Rows}
	return m.batch(count, bytes)
}

// largePush returns a batch of 5 000 rows and 7.8 MB: one of a few, which all visitors share.
func (v *visitor) largePush() []byte {
	f := v.flood
	f.mu.Lock()
	defer f.mu.Unlock()
	const kept = 4
	if len(f.pushes) < kept {
		f.pushes = append(f.pushes, v.pushRows(batchRows, attackProperties))
	}
	return f.pushes[v.random.IntN(len(f.pushes))]
}

func pushWithWrongToken(ctx context.Context, v *visitor) error {
	_, _, err := v.ask(ctx, v.post("POST", "/v2/feeds/"+token.New(token.Push)+"/entities", jsonType, "", v.largePush()))
	v.close() // the service closes the connection, because it does not read the body
	return err
}

func (v *visitor) pushPath() string {
	return "/v2/feeds/" + v.flood.Tokens[v.number%len(v.flood.Tokens)] + "/entities"
}

func pushWithRightToken(ctx context.Context, v *visitor) error {
	_, _, err := v.ask(ctx, v.post("POST", v.pushPath(), jsonType, "", v.largePush()))
	return err
}

// pushSmall pushes rows that streams report.
func pushSmall(ctx context.Context, v *visitor) error {
	_, _, err := v.ask(ctx, v.post("POST", v.pushPath(), jsonType, "", v.pushRows(100, 400)))
	pause(ctx, failurePause*10)
	return err
}

// hostileDocuments returns texts that cost more than their size, by format.
func hostileDocuments() [][2]string {
	var members strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&members, `"k%d":"v",`, i)
	}
	deep := strings.Repeat("[", 100_000)
	attributes := strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(&attributes, ` a%d="v"`, i)
	}
	return [][2]string{
		{"overpass", `{"elements":[{"type":"node","id":1,"lat":1,"lon":1,"tags":{` + strings.TrimSuffix(members.String(), ",") + `}}]}`},
		{"geojson", `{"type":"FeatureCollection","features":` + deep},
		{"wayside", deep},
		{"cifs", `<incidents><incident` + attributes.String() + `/></incidents>`},
		{"datex2", `<d2LogicalModel>` + strings.Repeat("<situation>", 30_000)},
		{"waze", `{"alerts":[` + strings.TrimSuffix(strings.Repeat(`{"uuid":"u","type":"HAZARD","location":{"x":1,"y":1}},`, 5_000), ",") + `]}`},
	}
}

func (v *visitor) check(ctx context.Context, format, document string) error {
	form := url.Values{"format": {format}, "json": {document}}
	_, _, err := v.ask(ctx, v.post("POST", "/check", "application/x-www-form-urlencoded", v.cookie(), []byte(form.Encode())))
	return err
}

func checkDocuments(ctx context.Context, v *visitor) error {
	all := hostileDocuments()
	d := all[v.random.IntN(len(all))]
	return v.check(ctx, d[0], d[1])
}

// checkMixedText sends mixed text. It is a separate door, because one document takes a gigabyte if the reader of XML does not bound
// mixed text.
func checkMixedText(ctx context.Context, v *visitor) error {
	return v.check(ctx, "cifs", `<incidents><incident id="1">`+strings.Repeat("x<b>y</b>", 20_000)+`</incident></incidents>`)
}

func (v *visitor) postJSON(ctx context.Context, path, header string, members map[string]any) error {
	body, err := json.Marshal(members)
	if err != nil {
		return err
	}
	_, _, err = v.ask(ctx, v.post("POST", path, jsonType, header, body))
	return err
}

func signIn(ctx context.Context, v *visitor) error {
	email := fmt.Sprintf("attack%d@example.org", v.random.IntN(1e9))
	switch v.random.IntN(5) {
	case 0:
		return v.postJSON(ctx, "/v2/auth/email", "", map[string]any{"email": email})
	case 1:
		return v.postJSON(ctx, "/v2/auth/verify", "", map[string]any{"email": email, "code": "123456"})
	case 2:
		return v.postJSON(ctx, "/v2/auth/verify", "", map[string]any{"token": strings.Repeat("t", 43)})
	case 3:
		return v.postJSON(ctx, "/v2/auth/passkey/begin", "", map[string]any{})
	}
	return v.postJSON(ctx, "/v2/auth/passkey/finish", "", map[string]any{"id": strings.Repeat("p", 1000), "response": strings.Repeat("r", 30_000)})
}

func pairScreens(ctx context.Context, v *visitor) error {
	switch v.random.IntN(3) {
	case 0:
		return v.postJSON(ctx, "/v2/auth/pair", "", map[string]any{})
	case 1:
		return v.postJSON(ctx, "/v2/auth/pair/token", "", map[string]any{"device_code": strings.Repeat("d", 43)})
	}
	_, _, err := v.ask(ctx, v.get(fmt.Sprintf("/v2/auth/pair/qr?code=%d", v.random.IntN(1e8)), ""))
	return err
}

func reportRoads(ctx context.Context, v *visitor) error {
	at := v.place()
	return v.postJSON(ctx, "/v2/reports", v.cookie(), map[string]any{"kind": "alert.hazard", "lat": at[0], "lng": at[1]})
}
