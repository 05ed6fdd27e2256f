package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"

	"wayside/internal/config"
	"wayside/internal/ingest"
	"wayside/internal/mapdata"
	"wayside/internal/provider/pull"
	"wayside/internal/safehttp"
)

// newFetcher makes the way out to providers, as the configuration has it.
func newFetcher(cfg *config.Config) (*safehttp.Client, error) {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	own, err := ownAddresses()
	if err != nil {
		return nil, fmt.Errorf("list this machine's addresses: %w", err)
	}
	options := safehttp.Options{
		UserAgent: userAgent(cfg),
		Hosts:     cfg.Egress.Hosts, RootCAs: roots, Own: own,
	}
	if base, err := url.Parse(cfg.BaseURL); err == nil {
		if addr, err := netip.ParseAddr(base.Hostname()); err == nil {
			options.Own = append(options.Own, addr)
		} else {
			options.OwnHosts = append(options.OwnHosts, base.Hostname())
		}
	}
	return safehttp.New(options)
}

// userAgent is how the service introduces itself (D6.2).
func userAgent(cfg *config.Config) string { return "wayside/" + version + " (+" + cfg.BaseURL + ")" }

// ownAddresses are those of this machine: nobody may have the service call itself (D6.4).
func ownAddresses() ([]netip.Addr, error) {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range interfaces {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, prefix.Addr().Unmap())
		}
	}
	return own, nil
}

// check fetches and checks a pull URL once, as a poll would.
func (c *validateCmd) check(p *program, cfg *config.Config) (*ingest.Checked, error) {
	client, err := newFetcher(cfg)
	if err != nil {
		return nil, err
	}
	trial, err := pull.NewChecker(client, "", p.now).URL(p.ctx, c.Source, c.Header)
	var invalid *mapdata.InvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Fields[0].Field == "pull_url":
		return nil, fmt.Errorf("the URL %s", invalid.Fields[0].Message)
	case errors.As(err, &invalid):
		return nil, fmt.Errorf("--header %s", invalid.Fields[0].Message)
	case err != nil:
		return nil, err
	case trial.Checked == nil:
		return nil, fmt.Errorf("%s: %s", trial.Outcome, trial.Advice)
	}
	return trial.Checked, nil
}

// explain gives the words that a feed's owner would read (D6.8).
func explain(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %s", failed.Outcome, failed.Advice)
	}
	return err
}

// explained is a body whose failures are explained.
type explained struct{ io.ReadCloser }

func (e explained) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	return n, explain(err)
}
