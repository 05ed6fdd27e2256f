package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
	"wayside/internal/run/service"
)

// doctorCmd is wayside doctor.
type doctorCmd struct {
	listenFlags
	Backups string `name:"backups" placeholder:"DIR" help:"Folder of backups; without it the last run of wayside backup counts."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// States of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"`
}

func well(text string, args ...any) finding {
	return finding{State: stateOK, Text: fmt.Sprintf(text, args...)}
}
func warn(text, do string) finding  { return finding{State: stateWarn, Text: text, Do: do} }
func fails(text, do string) finding { return finding{State: stateFail, Text: text, Do: do} }

// Run checks everything around the service and advises on each fault. It exits with 1 if a check fails; with only warnings it exits
// with 0.
func (c *doctorCmd) Run(p *program) error {
	cfg, err := c.load(p)
	if err != nil {
		return err
	}
	if err := datadir.Require(cfg.DataDir, ""); err != nil {
		return err
	}
	d := &diagnosis{program: p, config: cfg, backups: c.Backups}
	checks := []struct {
		name string
		look func() finding
	}{
		{"data", d.data},
		{"service", d.service},
		{"base_url", d.address},
		{"curators", d.curators},
		{"e-mail", d.mail},
		{"map", d.streetMap},
		{"region", d.region},
		{"engine", d.engine},
		{"speech", d.speech},
		{"law", d.law},
		{"clock", d.clock},
		{"disk", d.disk},
		{"open files", d.openFiles},
		{"backup", d.backup},
	}
	found := make([]finding, 0, len(checks))
	failed := false
	for _, check := range checks {
		f := check.look()
		f.Check = check.name
		found = append(found, f)
		failed = failed || f.State == stateFail
		if !c.JSON {
			d.show(&f)
		}
	}
	if c.JSON {
		err = p.writeJSON(found)
	}
	if failed {
		err = cmp.Or(err, errQuiet)
	}
	return err
}

// diagnosis holds the inputs of the checks.
type diagnosis struct {
	*program
	config  *config.Config
	backups string
	running bool
}

func (d *diagnosis) show(f *finding) {
	d.printf("%-4s  %-10s  %s\n", f.State, f.Check, printable(f.Text))
	if f.Do != "" {
		d.printf("%18s-> %s\n", "", printable(f.Do))
	}
}

// data checks that the data directory contains what the service needs and is writable.
func (d *diagnosis) data() finding {
	file := datadir.DatabaseFile
	if d.config.Database.URL != "" {
		file = datadir.KeyFile
	}
	var noData *datadir.NoDataError
	if err := datadir.Require(d.config.DataDir, file); errors.As(err, &noData) {
		return fails(file+" is missing in "+d.config.DataDir, "start wayside serve once, or restore a backup with wayside restore")
	} else if err != nil {
		return fails(err.Error(), "let the account that runs the service read the folder")
	}
	probe, err := os.CreateTemp(d.config.DataDir, ".doctor-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return fails("cannot write to "+d.config.DataDir, "run doctor as the account that runs the service, and let it own the folder")
	}
	if d.config.Database.URL != "" {
		return well("%s; the database is PostgreSQL", d.config.DataDir)
	}
	return well("%s", d.config.DataDir)
}

// service checks whether the service runs, and adopts the address under which it does.
func (d *diagnosis) service() finding {
	running, ok, err := datadir.RunningAddress(d.config.DataDir)
	switch {
	case err != nil:
		return warn("cannot tell whether it runs: "+err.Error(), "run doctor as the account that runs the service")
	case !ok:
		return warn("not running on this data directory", "start it: wayside serve")
	}
	d.running = true
	if !d.config.Set("base_url") {
		d.config.BaseURL = running.BaseURL
	}
	return well("runs at %s", running.Local)
}

// address opens base_url as visitors do.
func (d *diagnosis) address() finding {
	base := d.config.BaseURL
	local := service.LocalURL(base)
	if local && listensForOthers(d.config.HTTP.Listen) {
		return warn(base+" leads every other device to itself, but the service listens for them", "set base_url to the address that people open")
	}
	if !d.running {
		return warn(base+" was not tried, because the service does not run", "start it and run doctor again")
	}
	if err := service.CheckBaseURL(d.ctx, d.config, version); err != nil {
		return fails(base+" does not lead to the service: "+err.Error(),
			"check the DNS records of the name, the proxy and its certificate, and the firewall; the proxy must keep the Host header")
	}
	switch {
	case local:
		return well("%s answers, for this machine alone", base)
	case strings.HasPrefix(base, "http://"):
		return warn(base+" answers, without HTTPS: browsers share no position with it and offer no passkeys", "put a proxy with a certificate before it, and set base_url to its https:// address")
	}
	return well("%s answers", base)
}

// listensForOthers reports whether other machines can connect to an address to listen on.
func listensForOthers(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "" || ip != nil && !ip.IsLoopback()
}

// curators checks that somebody can approve feeds.
func (d *diagnosis) curators() finding {
	admin, err := service.OpenAdmin(d.ctx, service.AdminOptions{Config: d.config, Log: slog.New(slog.DiscardHandler), Now: d.now})
	if err != nil {
		return fails("the database does not open: "+err.Error(), "check database.url and the files in "+d.config.DataDir)
	}
	n, err := admin.Store.CountCurators(d.ctx)
	if err = errors.Join(err, admin.Close()); err != nil {
		return fails("the database does not answer: "+err.Error(), "check database.url and the files in "+d.config.DataDir)
	}
	if n == 0 {
		return warn("nobody can approve feeds", "wayside account create --email you@example.org, then wayside account role --email you@example.org curator")
	}
	return well("%d", n)
}

// mail checks the e-mail server.
func (d *diagnosis) mail() finding {
	if d.config.Mail.SMTPURL == "" {
		text := "e-mails are written to files in " + filepath.Join(d.config.DataDir, datadir.OutboxFolder)
		if service.LocalURL(d.config.BaseURL) {
			return well("%s", text)
		}
		return warn(text+": nobody can sign in by e-mail", "set mail.smtp_url and mail.from")
	}
	if err := service.CheckMail(d.ctx, d.config); err != nil {
		return fails("the server refuses or does not answer: "+err.Error(), "check host, port, user and password of mail.smtp_url, and the firewall")
	}
	return well("the server accepts the connection and the credentials (nothing was sent)")
}

// streetMap checks the map below the pins.
func (d *diagnosis) streetMap() finding {
	m := d.config.Map
	if err := service.CheckMap(m); err != nil {
		return fails(err.Error(), "put the file back, or name another in map.pmtiles")
	}
	switch {
	case m.PMTiles != "":
		return well("%s", m.PMTiles)
	case m.StyleURL != "":
		return well("the style of another server")
	}
	if r, err := service.CheckRegion(d.ctx, d.config); err == nil && r != nil && r.HasMap {
		return well("that of region %s", r.ID)
	}
	return warn("no street map is configured", "import a region (docs/operating/regions.md), or set map.pmtiles: docs/operating.md, The map, says where to get one")
}

// warnRegionAge is the age of a region's data beyond which a check warns.
const warnRegionAge = 90 * 24 * time.Hour

// region checks the roads that routes lead along.
func (d *diagnosis) region() finding {
	const do = "get a new extract and import it: wayside region import, see docs/operating/regions.md"
	r, err := service.CheckRegion(d.ctx, d.config)
	if err != nil {
		return fails(err.Error(), do)
	}
	if r == nil {
		if d.config.Navigation.Region == config.RegionOff {
			if d.config.Navigation.Remote() {
				return well("no region is served: closed roads on routes are not checked")
			}
			return well("routes are turned off")
		}
		if d.config.Navigation.Remote() {
			return warn("no region is imported: closed roads on routes are not checked", do)
		}
		return warn("no region is imported: no routes are served", do)
	}
	what, since := "data", r.AsOf
	if since.IsZero() {
		what, since = "imported", r.Imported
	}
	days := int(d.now().Sub(since).Hours() / 24)
	text := fmt.Sprintf("%s (%s of %s, %d days old)", r.ID, what, since.UTC().Format(time.DateOnly), days)
	if d.now().Sub(since) > warnRegionAge {
		return warn(text+": roads have changed since", do)
	}
	return well("%s", text)
}

// speech checks that the operator's program speaks a sentence.
func (d *diagnosis) speech() finding {
	if len(d.config.Speech.Command) == 0 {
		return well("announcements are spoken by browsers alone")
	}
	text, err := service.CheckSpeech(d.ctx, d.config.Speech)
	if err != nil {
		return fails("speech.command: "+err.Error(), "run it by hand with a sentence on standard input; it must write WAV, Ogg or MP3 to standard output within 5 s")
	}
	return well("%s", text)
}

// engine checks the remote engine, if one is configured.
func (d *diagnosis) engine() finding {
	n := &d.config.Navigation
	if !n.Remote() {
		return well("routes are found by the embedded engine")
	}
	version, err := service.CheckEngine(d.ctx, d.config, version)
	if err != nil {
		return fails(n.Engine+" at "+n.EngineURL+": "+err.Error(), "start it, and check navigation.engine and navigation.engine_url: docs/operating/engines.md")
	}
	if version != "" {
		version = " " + version
	}
	return well("%s%s answers at %s", n.Engine, version, n.EngineURL)
}

// law checks the file of areas.
func (d *diagnosis) law() finding {
	if err := service.CheckLaw(d.config.Law); err != nil {
		return fails(err.Error(), "correct the file: the service does not start with it")
	}
	if d.config.Law.File == "" {
		return well("no areas are configured: drivers are shown everything")
	}
	return well("%s", d.config.Law.File)
}

// clock checks that the system keeps its clock right, because lifetimes of pins and sign-in links depend on it.
func (d *diagnosis) clock() finding {
	synchronized, known := clockSynchronized()
	switch {
	case !known:
		return well("%s (this system does not tell whether it is synchronized)", d.now().UTC().Format(time.RFC3339))
	case !synchronized:
		return warn("the system's clock is not synchronized", "turn on NTP, such as timedatectl set-ntp true")
	}
	return well("synchronized")
}

// Free space of the disk below which a check warns or fails, in bytes.
const (
	warnDiskBytes = 2 << 30
	failDiskBytes = 200 << 20
)

// disk checks the free space for the data.
func (d *diagnosis) disk() finding {
	free, known := freeDisk(d.config.DataDir)
	text := fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))
	const do = "make room, or move data_dir: pushes are refused once the disk is full"
	switch {
	case !known:
		return well("this system does not tell how much is free")
	case free < failDiskBytes:
		return fails(text, do)
	case free < warnDiskBytes:
		return warn(text, do)
	}
	return well("%s", text)
}

// warnOpenFiles is the limit of open files below which a check warns: 512 are kept for the service itself.
const warnOpenFiles = 4096

// openFiles checks the limit that bounds connections. It is that of this process; the service may have another one.
func (d *diagnosis) openFiles() finding {
	limit, known := openFilesLimit()
	switch {
	case !known:
		return well("this system has no limit")
	case limit < warnOpenFiles:
		return warn(fmt.Sprintf("a process started here may open %d files, which bounds connections", limit), "LimitNOFILE=65536 in the unit, or ulimit -n 65536 before wayside serve")
	}
	return well("a process started here may open %d", limit)
}

// Age of the last backup beyond which a check warns.
const warnBackupAge = 48 * time.Hour

// backup checks the age of the last backup.
func (d *diagnosis) backup() finding {
	const do = "run wayside backup every night, such as by a timer: docs/operating/backup.md"
	var (
		last time.Time
		err  error
	)
	switch {
	case d.backups != "":
		last, err = newestFile(d.backups)
	case d.config.Database.URL != "":
		return warn("backups of PostgreSQL are made by its own tools", "name their folder with --backups to have the age checked")
	default:
		last, err = datadir.LastBackup(d.config.DataDir)
	}
	switch age := d.now().Sub(last); {
	case err != nil:
		return fails("cannot read when the last backup was made: "+err.Error(), do)
	case last.IsZero():
		return warn("no backup is known", do)
	case age > warnBackupAge:
		return warn(fmt.Sprintf("the last one is %d days old", int(age.Hours()/24)), do)
	}
	return well("the last one is of %s", last.UTC().Format(time.RFC3339))
}

// newestFile returns when the newest file of a folder was written; zero if there is none.
func newestFile(dir string) (newest time.Time, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return time.Time{}, err
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest, nil
}
