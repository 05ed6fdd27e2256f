package valkey

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/valkey-io/valkey-go"
)

// maxDatabase is the highest number of a database that a URL may name; servers have 16 unless configured otherwise.
const maxDatabase = 1<<15 - 1

// schemes maps each scheme that a URL may have to whether it means TLS.
var schemes = map[string]bool{"valkey": false, "redis": false, "valkeys": true, "rediss": true}

// CheckURL checks the URL of a cache: valkey://, redis://, or with TLS valkeys:// or rediss://, then user:password@ if needed,
// host, port (6379) and the number of a database (0). Its errors never repeat the URL, which may contain a password.
func CheckURL(text string) error {
	_, err := options(text)
	return err
}

// Server returns host and port of a URL that CheckURL accepts.
func Server(text string) (string, error) {
	o, err := options(text)
	if err != nil {
		return "", err
	}
	return o.InitAddress[0], nil
}

func options(text string) (valkey.ClientOption, error) {
	var o valkey.ClientOption
	u, err := url.Parse(text)
	if err != nil {
		return o, errors.New("must be a URL such as valkey://cache.example.org:6379/0")
	}
	secure, known := schemes[u.Scheme]
	switch {
	case !known:
		return o, errors.New("must begin with valkey:// or redis://, or with valkeys:// or rediss:// for TLS")
	case u.Hostname() == "":
		return o, errors.New("must name a host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return o, errors.New("takes nothing behind a ? or a #")
	}
	port := "6379"
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return o, fmt.Errorf("%q is not a port: 1 to 65535", p)
		}
		port = p
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		n, err := strconv.ParseUint(path, 10, 16)
		if err != nil || n > maxDatabase {
			return o, fmt.Errorf("behind the host stands the number of a database, 0 to %d", maxDatabase)
		}
		o.SelectDB = int(n)
	}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	o.InitAddress = []string{net.JoinHostPort(u.Hostname(), port)}
	if secure {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname()}
	}
	return o, nil
}
