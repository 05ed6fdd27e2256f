package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// file returns the configuration file: the answers, and the settings that an operator is likely to need next, as comments.
func (a *answers) file() string {
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	set := func(isSet bool, key, value, example string) {
		if isSet {
			line("%s = %s", key, strconv.Quote(value))
			return
		}
		line("# %s = %s", key, strconv.Quote(example))
	}
	line("# Configuration of Wayside. docs/operating.md explains every key; `wayside config --config FILE` prints what is in")
	line("# force. A change needs a restart; limits, upstreams, map and law need only `systemctl reload wayside` (SIGHUP).")
	line("")
	line("# Address that people open. It stands in e-mails, QR codes and links.")
	line("base_url = %s", strconv.Quote(a.baseURL))
	line("")
	line("# Database, secret key and e-mails that are written to files. Only the service needs access. Back it up: wayside backup.")
	line("data_dir = %s", strconv.Quote(a.dataDir))
	line("")
	line("[http]")
	if a.proxied {
		line("# The proxy on this machine speaks HTTPS and passes requests on to this address, with the Host header as it came.")
	} else {
		line("# Where the service answers. 127.0.0.1 is this machine alone; without an address before the colon it is every network.")
	}
	line("listen = %s", strconv.Quote(a.listen))
	if a.proxied {
		line("# Its X-Forwarded-For counts, so that limits hold for clients and not for the proxy.")
		line(`trusted_proxies = ["127.0.0.1/32", "::1/128"]`)
	}
	line("")
	line("[mail]")
	line("# Without a server, e-mails become files in outbox/ of data_dir, and nobody can sign in by e-mail.")
	set(a.smtpURL != "", "smtp_url", a.smtpURL, "smtps://user:password@mail.example.org:465")
	set(a.from != "", "from", a.from, "Wayside <wayside@example.org>")
	line("")
	line("[map]")
	line("# Street map below the pins: a PMTiles file. docs/operating.md, \"The map\", says where to get one.")
	set(a.pmtiles != "", "pmtiles", a.pmtiles, "/var/lib/wayside-map/region.pmtiles")
	line(`# attribution = "© OpenStreetMap contributors"   # where the file does not name it`)
	line("")
	line("# What the page /privacy says of you. The law of many countries asks for it.")
	line("# [privacy]")
	line(`# operator = "Name, street, town"`)
	line(`# contact = "privacy@example.org"`)
	line("")
	line("# Metrics and health for you alone: http://127.0.0.1:9090/metrics")
	line("# [ops]")
	line(`# listen = "127.0.0.1:9090"`)
	line("")
	line("# Areas in which drivers must not be shown everything, such as cameras: docs/operating.md, \"The law\".")
	line("# [law]")
	line(`# file = "/etc/wayside/law.geojson"`)
	return text.String()
}
