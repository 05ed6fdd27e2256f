package service

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// logReady logs one line with the facts that an operator looks for after a start, and advice about missing settings.
func (s *Service) logReady(ctx context.Context, took time.Duration) {
	curators, err := s.Store.CountCurators(ctx)
	if err != nil {
		s.log.Warn("cannot count the curators", "error", err)
	}
	s.log.Info("ready",
		"url", s.config.BaseURL, "map", s.describeMap(&s.generation.Load().config.Map), "mail", describeMail(s.config), "region", s.describeRegion(), "curators", curators,
		"sources", s.countSources(), "upstreams", len(s.config.Upstreams), "entities", s.index.Len(),
		"took", took.Round(time.Millisecond).String())
	if err == nil && curators == 0 && s.options.DemoDrive == nil {
		dir := ""
		if s.config.Set("data_dir") {
			dir = " --data-dir " + s.config.DataDir
		}
		s.log.Info("No account is a curator yet, so feeds wait for review. Make one with these commands",
			"first", "wayside account create --email you@example.org"+dir,
			"second", "wayside account role --email you@example.org curator"+dir,
			"third", "wayside account login-link --email you@example.org"+dir)
	}
	if s.baseMap(s.generation.Load())() == nil {
		s.log.Info("No street map is configured: import a region (wayside region import), or set map.pmtiles or map.style_url, see docs/operating.md")
	}
	local := localURL(s.config.BaseURL)
	if local && !loopbackAddress(s.public.Addr()) {
		s.log.Warn("Other devices cannot open the links in e-mails and QR codes: base_url is local, but the service listens for them. Set base_url",
			"base_url", s.config.BaseURL, "listen", s.public.Addr().String())
	}
	if !local && s.options.DemoDrive == nil && s.config.Mail.SMTPURL == "" {
		s.log.Warn("E-mails are written to files: nobody can sign in by e-mail until mail.smtp_url is set")
	}
}

// countSources counts the sources that providers and regions fill. It leaves out drivers' reports, because every service has that
// source.
func (s *Service) countSources() int {
	count := s.catalog.ServedCount()
	if s.catalog.Feed(mapdata.DriversID, mapdata.AccountID{}) != nil {
		count--
	}
	return count
}

// describeMap names the map without its path.
func (s *Service) describeMap(m *config.Map) string {
	switch {
	case m.PMTiles != "":
		return filepath.Base(m.PMTiles)
	case m.StyleURL != "":
		if u, err := url.Parse(m.StyleURL); err == nil {
			return u.Host // the rest may hold a key
		}
	case s.baseMap(s.generation.Load())() != nil:
		return "the region's"
	}
	return "none"
}

// describeMail returns where e-mails go, without user and password.
func describeMail(cfg *config.Config) string {
	if cfg.Mail.SMTPURL == "" {
		return "files in " + filepath.Join(cfg.DataDir, datadir.OutboxFolder)
	}
	u, err := url.Parse(cfg.Mail.SMTPURL)
	if err != nil {
		return "an SMTP server"
	}
	return u.Host
}

// localURL reports whether a URL leads every device to itself, as localhost does.
func localURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// loopbackAddress reports whether only this machine can connect to a listening address.
func loopbackAddress(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
