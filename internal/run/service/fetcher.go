package service

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"wayside/internal/ground/safehttp"
	"wayside/internal/run/config"
)

// NewFetcher makes the HTTP client that calls providers, with the limits of the configuration.
func NewFetcher(cfg *config.Config, version string) (*safehttp.Client, error) {
	roots, err := safehttp.ReadRoots(cfg.Egress.CAFile)
	if err != nil {
		return nil, fmt.Errorf("egress.ca_file: %w", err)
	}
	own, err := ownAddresses()
	if err != nil {
		return nil, fmt.Errorf("list this machine's addresses: %w", err)
	}
	options := safehttp.Options{
		UserAgent: userAgent(cfg, version),
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

// userAgent returns the User-Agent of the service (D6.2).
func userAgent(cfg *config.Config, version string) string {
	return "wayside/" + version + " (+" + cfg.BaseURL + ")"
}

// ownAddresses lists the addresses of this machine: a feed must not make the service call itself (D6.4).
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
