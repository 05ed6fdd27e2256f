package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	configPath = " --config /etc/wayside/wayside.toml"
	exampleID  = "019ab2c4-8b1e-7c3a-9d55-0f6a1b2c3d4e"

	exampleRegion = "3f9c2a7be1d04856"
)

// examples returns the command lines at the end of each command's help, by the command.
func examples() map[string][]string {
	return map[string][]string{
		"serve":              {"wayside serve", "wayside serve" + configPath, "wayside serve --listen 127.0.0.1:8091 --data-dir /tmp/trial"},
		"demo":               {"wayside demo", "wayside demo --lan", "wayside demo --listen 127.0.0.1:8091"},
		"setup":              {"wayside setup", "wayside setup --yes --base-url https://map.example.org --smtp-url smtps://user:password@mail.example.org:465 --curator you@example.org"},
		"doctor":             {"wayside doctor" + configPath, "wayside doctor --backups /backups --json"},
		"account create":     {"wayside account create --email you@example.org"},
		"account list":       {"wayside account list", "wayside account list --json"},
		"account role":       {"wayside account role --email you@example.org curator"},
		"account tier":       {"wayside account tier --email you@example.org premium"},
		"account suspend":    {"wayside account suspend --email spam@example.org --reason 'Invented closures.'"},
		"account resume":     {"wayside account resume --email spam@example.org"},
		"account login-link": {"wayside account login-link --email you@example.org", "wayside account login-link --email you@example.org" + configPath},
		"account show":       {"wayside account show --email you@example.org"},
		"account sessions":   {"wayside account sessions --email you@example.org"},
		"account sign-out":   {"wayside account sign-out --email you@example.org"},
		"account email":      {"wayside account email --email you@example.org --to new@example.org"},
		"account delete":     {"wayside account delete --email you@example.org"},
		"feed catalogue":     {"wayside feed catalogue --country NL"},
		"feed add":           {"wayside feed add --email you@example.org --from-catalogue nl-ndw-situations --public --approve"},
		"feed list":          {"wayside feed list", "wayside feed list --json"},
		"feed show":          {"wayside feed show " + exampleID},
		"feed approve":       {"wayside feed approve " + exampleID},
		"feed reject":        {"wayside feed reject " + exampleID + " --note 'The cameras are in the sea.'"},
		"feed delete":        {"wayside feed delete " + exampleID},
		"feed pause":         {"wayside feed pause " + exampleID + " --reason 'Positions are wrong since Monday.'"},
		"feed resume":        {"wayside feed resume " + exampleID},
		"feed remove":        {"wayside feed remove " + exampleID + " --reason 'A copy of another feed.'"},
		"app list":           {"wayside app list", "wayside app list --json"},
		"app show":           {"wayside app show " + exampleID},
		"app approve":        {"wayside app approve " + exampleID},
		"app reject":         {"wayside app reject " + exampleID + " --note 'Say which hosts the page talks to.'"},
		"app suspend":        {"wayside app suspend " + exampleID + " --note 'The page asks for a password.'"},
		"app resume":         {"wayside app resume " + exampleID},
		"pin hide":           {"wayside pin hide feed:" + exampleID + ":v1:Y2FtLTE --reason 'There is no camera.'", "wayside pin hide feed:" + exampleID + ":v1:Y2FtLTE --reason 'Works have ended.' --for 48h"},
		"pin show":           {"wayside pin show feed:" + exampleID + ":v1:Y2FtLTE"},
		"pin list":           {"wayside pin list"},
		"complaint list":     {"wayside complaint list"},
		"complaint close":    {"wayside complaint close 17"},
		"app check":          {"wayside app check http://localhost:5173/", "wayside app check https://apps.example.org/trip --schema submission.json --report report.json"},
		"audit":              {"wayside audit"},
		"notice":             {"wayside notice --subject 'Maintenance on Sunday' --file notice.txt --dry-run"},
		"region import":      {"wayside region import city.osm.pbf", "wayside region import north.osm.pbf south.osm.pbf --json" + configPath},
		"region list":        {"wayside region list", "wayside region list --json"},
		"region show":        {"wayside region show", "wayside region show " + exampleRegion},
		"region remove":      {"wayside region remove " + exampleRegion},
		"region export":      {"wayside region export --arcs arcs.txt", "wayside region export --arcs - " + exampleRegion + " > arcs.txt"},
		"upstream list":      {"wayside upstream list" + configPath},
		"upstream check":     {"wayside upstream check" + configPath, "wayside upstream check city --at 52.37,4.90"},
		"validate":           {"wayside validate rows.json", "wayside validate https://feeds.example.org/rows.json --header 'Authorization: Bearer …'", "wayside validate --format wzdx workzones.geojson --json"},
		"convert":            {"wayside convert --from wzdx workzones.geojson > rows.json", "wayside convert --from csv cameras.csv --mapping cameras.json --out rows.json --report report.json"},
		"relay":              {"wayside relay --listen 127.0.0.1:9100 --secret-file relay.secret rows.json"},
		"backup":             {"wayside backup /backups" + configPath, "wayside backup /backups --with-key"},
		"restore":            {"wayside restore /backups/wayside-20261121T050000Z.tar.gz --data-dir /var/lib/wayside"},
		"migrate":            {"wayside migrate --check" + configPath, "wayside migrate" + configPath},
		"copy":               {"wayside copy" + configPath + " --from sqlite --to postgres"},
		"key rotate":         {"wayside key rotate" + configPath},
		"config":             {"wayside config" + configPath},
		"licences":           {"wayside licences", "wayside licences --sbom"},
		"completion":         {"wayside completion bash > /etc/bash_completion.d/wayside", "wayside completion zsh > ~/.zfunc/_wayside", "wayside completion fish > ~/.config/fish/completions/wayside.fish"},
		"version":            {"wayside version"},
	}
}

// printHelp prints the help of a command with examples at its end.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	lines := []string{"wayside demo", "wayside setup", "wayside serve --config wayside.toml"}
	if selected := ctx.Selected(); selected != nil {
		lines = examples()[commandPath(selected)]
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\nExamples:\n  %s\n", strings.Join(lines, "\n  "))
	return err
}

// commandPath returns the words of a command without the program's name and arguments, such as "account create".
func commandPath(node *kong.Node) string {
	var words []string
	for ; node != nil && node.Type == kong.CommandNode; node = node.Parent {
		words = append([]string{node.Name}, words...)
	}
	return strings.Join(words, " ")
}
