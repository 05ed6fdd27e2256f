package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// answers holds the settings that setup writes into the configuration file.
type answers struct {
	baseURL, dataDir, listen string
	proxied                  bool // a proxy on this machine serves HTTPS
	smtpURL, from            string
	pmtiles                  string // absolute path; empty: none
}

// Defaults of answers.
const (
	defaultBaseURL = "http://127.0.0.1:8080"
	defaultPort    = "8080"
	localListen    = "127.0.0.1:" + defaultPort
)

// questions asks at the terminal.
type questions struct {
	*program
	answers *bufio.Reader
	silent  bool // asks nothing: the defaults apply
}

// errNoAnswer is the error when standard input ends before the questions.
var errNoAnswer = errors.New("standard input ended before all questions were answered: give --yes and flags to be asked nothing")

// ask asks for everything that no flag sets. A wrong flag is an error; after a wrong answer it asks again.
func (q *questions) ask(c *setupCmd) (a *answers, err error) {
	a = &answers{listen: c.Listen}
	if a.dataDir, err = filepath.Abs(orDefault(orDefault(c.DataDir, q.variable("WAYSIDE_DATA_DIR")), "wayside-data")); err != nil {
		return nil, err
	}
	inNetwork := "ADDRESS"
	if !q.silent {
		// If an image sets the listening address, this machine is a container, whose own address nobody opens.
		if own, err := lanAddress(q.ctx); err == nil && q.variable("WAYSIDE_HTTP_LISTEN") == "" {
			inNetwork = own.String()
		}
		q.printf("Press Enter to accept what is in brackets.\n")
	}
	if a.baseURL, err = q.setting(question{
		flag: "--base-url", given: c.BaseURL, key: "base_url", preset: defaultBaseURL, spell: completeURL,
		text: "\nAddress that people will open: https://NAME behind a proxy that has a certificate, http://" + inNetwork + ":8080\nin your own network, or this computer alone",
	}); err != nil {
		return nil, err
	}
	a.follow()
	if err := checkSetting("--listen", "http.listen", a.listen); err != nil {
		return nil, err
	}
	if a.smtpURL, err = q.setting(question{
		flag: "--smtp-url", given: c.SMTPURL, key: "mail.smtp_url",
		text: "\nE-mail server, such as smtps://user:password@mail.example.org:465. Without one, e-mails become files\nand people sign in by links that you print",
	}); err != nil {
		return nil, err
	}
	if a.smtpURL != "" || c.From != "" {
		if a.from, err = q.setting(question{
			flag: "--mail-from", given: c.From, key: "mail.from", preset: "wayside@" + hostOf(a.baseURL), text: "Sender of e-mails",
		}); err != nil {
			return nil, err
		}
	}
	a.pmtiles, err = q.setting(question{
		flag: "--map", given: c.Map, key: "map.pmtiles", spell: absolutePath, check: checkMap,
		text: "\nStreet map, a PMTiles file (docs/operating.md says where to get one). It can be added later",
	})
	return a, err
}

// variable returns the value of an environment variable; empty if it is not set.
func (q *questions) variable(name string) string {
	for _, v := range q.env {
		if value, found := strings.CutPrefix(v, name+"="); found {
			return value
		}
	}
	return ""
}

// curator asks for the address of the first curator.
func (q *questions) curator() (string, error) {
	return q.setting(question{
		flag: "--curator", check: func(email string) error { _, err := mapdata.ParseEmail(email); return err },
		text: "\nYour e-mail address: the account that approves feeds",
	})
}

// question is one question.
type question struct {
	text, flag, given string
	key               string                    // of the configuration; empty: it is not a setting
	preset            string                    // value of an empty answer
	spell             func(string) string       // completes an answer; nil: as it is
	check             func(answer string) error // beside that of the configuration; nil: none
}

// setting returns the value of the flag, or the answer to the question.
func (q *questions) setting(one question) (string, error) {
	if one.given != "" || q.silent {
		return one.accept(orDefault(one.given, one.preset))
	}
	for {
		q.printf("%s [%s]: ", one.text, orDefault(one.preset, "none"))
		line, err := q.answers.ReadString('\n')
		line = strings.TrimSpace(line)
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			q.printf("\n")
			return "", fmt.Errorf("%w%w", errUsage, errNoAnswer)
		}
		value, err := one.accept(orDefault(line, one.preset))
		if err == nil {
			return value, nil
		}
		q.printf("  %s\n", strings.TrimPrefix(err.Error(), one.flag+": "))
	}
}

func (one *question) accept(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	if one.spell != nil {
		value = one.spell(value)
	}
	if one.key != "" {
		if err := checkSetting(one.flag, one.key, value); err != nil {
			return "", err
		}
	}
	if one.check != nil {
		if err := one.check(value); err != nil {
			return "", fmt.Errorf("%w%s: %w", errUsage, one.flag, err)
		}
	}
	return value, nil
}

// checkSetting checks the value of one key.
func checkSetting(flag, key, value string) error {
	if _, err := config.Load(config.Input{Flags: map[string]config.Flag{key: {Name: flag, Value: value}}}); err != nil {
		return fmt.Errorf("%w%w", errUsage, err)
	}
	return nil
}

func checkMap(path string) error { return service.CheckMap(config.Map{PMTiles: path}) }

// completeURL completes an address as people type it: it adds https to a name, and the default port to an IP address.
func completeURL(text string) string {
	text = strings.TrimRight(text, "/")
	if strings.Contains(text, "://") {
		return text
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = strings.Trim(text, "[]")
	}
	if _, numeric := netip.ParseAddr(host); numeric != nil && host != "localhost" {
		return "https://" + text
	}
	if err != nil {
		return "http://" + net.JoinHostPort(host, defaultPort)
	}
	return "http://" + text
}

// follow derives the listening address from the public address.
func (a *answers) follow() {
	u, err := url.Parse(a.baseURL)
	if err != nil {
		return
	}
	a.proxied = u.Scheme == "https"
	if a.listen != "" {
		return
	}
	port := orDefault(u.Port(), "80")
	addr, err := netip.ParseAddr(u.Hostname())
	switch {
	case a.proxied:
		a.listen = localListen
	case u.Hostname() == "localhost" || err == nil && addr.IsLoopback():
		a.listen = net.JoinHostPort("127.0.0.1", port)
	default:
		a.listen = ":" + port
	}
}

func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// hostOf returns the host of a URL for the sender's address.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "localhost"
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return "localhost"
	}
	return u.Hostname()
}

func orDefault(value, preset string) string {
	if value == "" {
		return preset
	}
	return value
}
