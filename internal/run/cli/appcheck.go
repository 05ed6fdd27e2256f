package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"

	"wayside/internal/people/apps/appcheck"
	"wayside/web"
)

// appCheckCmd is wayside app check.
type appCheckCmd struct {
	URL       string `arg:"" name:"url" help:"The app's page, also on this machine, such as http://localhost:5173/."`
	Schema    string `name:"schema" placeholder:"FILE" help:"config_schema as JSON, or a submission that holds one (default: the app has no config)."`
	Values    string `name:"values" placeholder:"FILE" help:"Values of the config as a JSON object (default: samples that fit the schema)."`
	Slot      string `name:"slot" enum:"widget,notifications" default:"widget" help:"The slot that the app is told it is in: widget or notifications (default ${default})."`
	As        string `name:"as" placeholder:"ORIGIN" help:"Origin of the service that shows the app, such as https://map.example.org, for pages that name it in frame-ancestors. It is not asked."`
	Browser   string `name:"browser" placeholder:"PROGRAM" help:"Chromium or Chrome (default: the first that is on PATH)."`
	NoSandbox bool   `name:"no-sandbox" help:"Run the browser without its sandbox, as root or in a container, where you trust the page."`
	JSON      bool   `name:"json" help:"Print the report as JSON, as a submission takes it."`
	Report    string `name:"report" placeholder:"FILE" help:"Also write the report into a file, as JSON."`
}

// Help explains the exit codes.
func (appCheckCmd) Help() string {
	return "The checks are those of the app bench. Exit codes: 0, all checks passed; 1, one failed; 2, the page could not be checked."
}

// Run checks the page of an app in a browser.
func (c *appCheckCmd) Run(p *program) error {
	plan, err := c.plan()
	if err != nil {
		return fmt.Errorf("%w%w", errUsage, err)
	}
	report, err := appcheck.Run(p.ctx, plan)
	if err != nil {
		return fmt.Errorf("%wcheck the app: %w", errUsage, err)
	}
	if c.Report != "" {
		if err := writeReport(c.Report, report); err != nil {
			return fmt.Errorf("%w--report: %w", errUsage, err)
		}
	}
	if c.JSON {
		err = p.writeJSON(report)
	} else {
		err = showReport(p, report)
	}
	if err == nil && !report.Passed {
		return errQuiet
	}
	return err
}

// plan reads the flags and the files that they name.
func (c *appCheckCmd) plan() (*appcheck.Plan, error) {
	plan := &appcheck.Plan{URL: c.URL, Slot: c.Slot, NoSandbox: c.NoSandbox}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("%s: must be an address that begins with https:// or http://", c.URL)
	}
	if c.As != "" {
		as, err := url.Parse(c.As)
		if err != nil || as.Scheme != "https" && as.Scheme != "http" || as.Host == "" || strings.Trim(as.Path, "/") != "" || as.RawQuery != "" {
			return nil, fmt.Errorf("--as: must be an origin, such as https://map.example.org")
		}
		plan.As = as.Scheme + "://" + as.Host
	}
	if plan.Schema, err = c.schema(); err != nil {
		return nil, err
	}
	if c.Values != "" {
		if plan.Config, err = readJSON(c.Values, '{'); err != nil {
			return nil, fmt.Errorf("--values: %w", err)
		}
	}
	if plan.Browser, err = appcheck.Find(c.Browser); err != nil {
		return nil, err
	}
	plan.Scripts, err = web.Console()
	return plan, err
}

// schema reads --schema: an array of fields, or an object with a config_schema.
func (c *appCheckCmd) schema() (json.RawMessage, error) {
	if c.Schema == "" {
		return nil, nil
	}
	text, err := readJSON(c.Schema, '[', '{')
	if err == nil && text[0] == '{' {
		var submission struct {
			ConfigSchema json.RawMessage `json:"config_schema"`
		}
		err = json.Unmarshal(text, &submission)
		text = submission.ConfigSchema
	}
	if err != nil {
		return nil, fmt.Errorf("--schema: %w", err)
	}
	return text, nil
}

// readJSON reads a file whose JSON begins with one of the given characters.
func readJSON(path string, begins ...byte) (json.RawMessage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if !json.Valid(text) || bytes.IndexByte(begins, text[0]) < 0 {
		return nil, fmt.Errorf("%s: must hold JSON that begins with %q", path, begins)
	}
	return text, nil
}

func writeReport(path string, report *appcheck.Report) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // holds no secret
}

func showReport(p *program, report *appcheck.Report) error {
	rows := [][]string{{"RESULT", "CHECK", "SEEN"}}
	for _, c := range report.Checks {
		rows = append(rows, []string{c.Result, c.Check, c.Seen})
	}
	return p.writeTable(rows)
}
