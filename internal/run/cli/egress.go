package cli

import (
	"errors"
	"fmt"
	"io"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// check fetches and checks a pull URL once, as a poll would.
func (c *validateCmd) check(p *program, cfg *config.Config) (*ingest.Checked, error) {
	client, err := service.NewFetcher(cfg, version)
	if err != nil {
		return nil, err
	}
	trial, err := trial.NewChecker(client, "", p.now).URL(p.ctx, mapdata.AccountID{}, c.Source, c.Header)
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

// explain returns an error with the text that a feed's owner reads (D6.8).
func explain(err error) error {
	var failed *safehttp.Error
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: %s", failed.Outcome, failed.Advice)
	}
	return err
}

// explained is a body whose errors pass through explain.
type explained struct{ io.ReadCloser }

func (e explained) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	return n, explain(err)
}
