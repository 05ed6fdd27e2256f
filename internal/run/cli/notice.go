package cli

import (
	"context"
	"fmt"
	"io"
	"os"
)

// noticeCmd is wayside notice.
type noticeCmd struct {
	adminFlags
	Subject string `name:"subject" required:"" placeholder:"S" help:"The e-mail's subject."`
	File    string `name:"file" required:"" placeholder:"F" help:"The e-mail's text: a file of plain text in UTF-8."`
	DryRun  bool   `name:"dry-run" help:"Only print what would be sent, and to how many."`
}

// maxNoticeFile is the largest file that is read, in bytes.
const maxNoticeFile = 64 << 10

// noticeJSON is the output with --json.
type noticeJSON struct {
	Owners int  `json:"owners"` // accounts that have a feed
	Queued int  `json:"queued"` // accounts that get the notice; the others have it already
	DryRun bool `json:"dry_run"`
}

// Run writes to all owners of feeds, each once.
func (c *noticeCmd) Run(p *program) error {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxNoticeFile+1))
	if err != nil {
		return fmt.Errorf("read the notice: %w", err)
	}
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		result, err := deps.Feeds.Notify(ctx, c.Subject, string(text), c.DryRun)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.writeJSON(noticeJSON{result.Owners, result.Queued, c.DryRun})
		}
		had := result.Owners - result.Queued
		if c.DryRun {
			p.printf("would write to %d of %d owners of feeds (%d got this notice before); nothing was sent\n\n%s\n\n%s\n",
				result.Queued, result.Owners, had, printable(c.Subject), text)
			return nil
		}
		p.printf("queued for %d of %d owners of feeds (%d got this notice before)\n", result.Queued, result.Owners, had)
		return nil
	})
}
