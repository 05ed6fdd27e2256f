package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/format"
	"wayside/internal/ground/safehttp"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// documentFlags are the settings of a feed for a document.
type documentFlags struct {
	Status         string `name:"status" placeholder:"FILE|URL" help:"Second document with the status of charging points (datex2-energy)."`
	Mapping        string `name:"mapping" placeholder:"FILE" help:"Mapping in JSON (geojson, csv)."`
	TimeZone       string `name:"time-zone" placeholder:"ZONE" help:"Time zone of schedules and of times without an offset, such as Europe/Amsterdam."`
	ChargerNetwork string `name:"charger-network" placeholder:"ID" help:"Network of all chargers, or none for those that everybody sees (default: by the operator's name)."`
	Header         string `name:"header" placeholder:"NAME: VALUE" help:"Auth header to send with the request to a URL."`
	At             string `name:"at" placeholder:"TIME" help:"Judge starts and ends as of this time (RFC 3339; default: now)."`
}

// given returns the name of a flag that was given; empty: none was.
func (d *documentFlags) given() string {
	for flag, value := range map[string]string{
		"status": d.Status, "mapping": d.Mapping, "time-zone": d.TimeZone, "charger-network": d.ChargerNetwork, "at": d.At,
	} {
		if value != "" {
			return flag
		}
	}
	return ""
}

// conversion makes the conversion of a document from flags, as a poll makes it from a feed.
func (d *documentFlags) conversion(p *program, cfg *config.Config, f bridge.Format, source string) (_ *bridge.Conversion, closeFiles func() error, err error) {
	o := format.Options{Now: p.now().UTC(), ChargerNetwork: d.ChargerNetwork}
	for _, wrong := range []struct {
		given bool
		takes bool
		flag  string
	}{
		{d.Status != "", f.Status, "status"}, {d.Mapping != "", f.Mapping, "mapping"}, {d.ChargerNetwork != "", f.Chargers, "charger-network"},
	} {
		if wrong.given && !wrong.takes {
			return nil, nil, fmt.Errorf("%w--%s is not for the format %s", errUsage, wrong.flag, f.Name)
		}
	}
	if d.At != "" {
		if o.Now, err = time.Parse(time.RFC3339, d.At); err != nil {
			return nil, nil, fmt.Errorf("%w--at: %q is not a time such as 2026-03-01T12:00:00Z", errUsage, d.At)
		}
	}
	if d.TimeZone != "" {
		if o.Zone, err = time.LoadLocation(d.TimeZone); err != nil {
			return nil, nil, fmt.Errorf("%w--time-zone: %q is not a time zone such as Europe/Amsterdam", errUsage, d.TimeZone)
		}
	}
	if f.Mapping {
		if d.Mapping == "" {
			return nil, nil, fmt.Errorf("%wthe format %s needs --mapping FILE", errUsage, f.Name)
		}
		if o.Mapping, err = os.ReadFile(d.Mapping); err != nil {
			return nil, nil, err
		}
	}
	files := &openFiles{p: p, cfg: cfg, header: d.Header}
	document := format.Document{}
	if document.Open, err = files.opener(source, f); err == nil && d.Status != "" {
		document.Status, err = files.opener(d.Status, f)
	}
	if err != nil {
		return nil, nil, errors.Join(err, files.close())
	}
	return &bridge.Conversion{Format: f, Document: document, Options: o}, files.close, nil
}

// maxWire bounds the bytes of a document as it is sent (D17.12).
const maxWire = 64 << 20

// openFiles opens documents, and removes the copies that it had to make of them.
type openFiles struct {
	p      *program
	cfg    *config.Config
	header string // that authenticates requests; empty: none
	spool  []string
}

// opener returns a function that opens a document from its beginning, any number of times: a file, standard input or a URL.
func (o *openFiles) opener(source string, f bridge.Format) (func() (io.ReadCloser, error), error) {
	var body io.ReadCloser
	switch {
	case source == "-":
		body = io.NopCloser(o.p.stdin)
	case strings.Contains(source, "://"):
		fetched, err := o.fetch(source, f)
		if err != nil {
			return nil, err
		}
		body = explained{fetched}
	default:
		if _, err := os.Stat(source); err != nil {
			return nil, err
		}
		return bridge.Unpacked(func() (io.ReadCloser, error) { return os.Open(source) }), nil
	}
	name, err := o.keep(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return bridge.Unpacked(func() (io.ReadCloser, error) { return os.Open(name) }), nil
}

func (o *openFiles) fetch(address string, f bridge.Format) (io.ReadCloser, error) {
	u, err := safehttp.CheckURL(address)
	if err != nil {
		return nil, fmt.Errorf("%wthe URL %w", errUsage, err)
	}
	if o.header != "" {
		if _, _, err := safehttp.CheckAuthHeader(o.header); err != nil {
			return nil, fmt.Errorf("%w--header %w", errUsage, err)
		}
	}
	client, err := service.NewFetcher(o.cfg, version)
	if err != nil {
		return nil, err
	}
	answer, err := client.Fetch(o.p.ctx, safehttp.Request{
		URL: u, AuthHeader: o.header, Accept: string(f.Accept) + ", */*;q=0.1", MaxWire: maxWire, MaxBody: bridge.MaxUnpacked,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, explain(err))
	}
	return answer.Body, nil
}

// keep copies a body that can be read only once into a file.
func (o *openFiles) keep(body io.Reader) (name string, err error) {
	file, err := os.CreateTemp("", "wayside-document-*")
	if err != nil {
		return "", err
	}
	o.spool = append(o.spool, file.Name())
	n, err := io.Copy(file, io.LimitReader(body, bridge.MaxUnpacked+1))
	if err == nil && n > bridge.MaxUnpacked {
		err = &format.Error{Fault: format.TooLong}
	}
	return file.Name(), errors.Join(err, file.Close())
}

// close removes the copies.
func (o *openFiles) close() error {
	var err error
	for _, name := range o.spool {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
