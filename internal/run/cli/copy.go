package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
	"wayside/internal/store/postgres"
	"wayside/internal/store/sqlite"
)

// copyCmd is wayside copy.
type copyCmd struct {
	configFlags
	From string `name:"from" required:"" placeholder:"sqlite[:FILE]" help:"Source: sqlite is the database in the data directory."`
	To   string `name:"to" required:"" placeholder:"postgres|URL" help:"Destination: postgres is the database that database.url names. A URL here is visible in the process list."`
}

// Run copies an embedded database, which must not be served, into an empty PostgreSQL database.
func (c *copyCmd) Run(p *program) (err error) {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	from, to, err := c.ends(cfg)
	if err != nil {
		return err
	}
	dir := filepath.Dir(from)
	if from == filepath.Join(cfg.DataDir, datadir.DatabaseFile) {
		dir = cfg.DataDir // as the operator wrote it
	}
	if err := datadir.Require(dir, filepath.Base(from)); err != nil {
		return err
	}
	// The copy would miss the writes of a running service.
	release, err := datadir.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	db, err := sqlite.Open(p.ctx, from, sqlite.Options{Now: p.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	copied, err := c.copy(p, db, to)
	if err != nil {
		return err
	}
	for _, table := range copied {
		p.printf("%12d  %s\n", table.Rows, table.Table)
	}
	p.printf("All of it was read again and is the same. Put %s into the data directory of every node, too.\n",
		filepath.Join(filepath.Dir(from), datadir.KeyFile))
	return nil
}

// ends returns the file to copy and the URL of the target database.
func (c *copyCmd) ends(cfg *config.Config) (from, to string, err error) {
	word, from, _ := strings.Cut(c.From, ":")
	if word != "sqlite" {
		return "", "", fmt.Errorf("%w--from: want sqlite or sqlite:FILE", errUsage)
	}
	if from == "" {
		from = filepath.Join(cfg.DataDir, datadir.DatabaseFile)
	}
	switch {
	case strings.HasPrefix(c.To, "postgres://") || strings.HasPrefix(c.To, "postgresql://"):
		return from, c.To, nil
	case c.To != "postgres":
		return "", "", fmt.Errorf("%w--to: want postgres or a URL that begins with postgres://", errUsage)
	case cfg.Database.URL == "":
		return "", "", fmt.Errorf("%w--to postgres: name the database in database.url or %s", errUsage, config.Variable("database.url"))
	}
	return from, cfg.Database.URL, nil
}

func (c *copyCmd) copy(p *program, db *sqlite.DB, to string) (copied []postgres.Copied, err error) {
	copying := newProgress(p.stderr, p.say, "copying", "rows written and read again")
	defer copying.Close()
	err = db.Snapshot(p.ctx, func(s *sqlite.Snapshot) error {
		copied, err = postgres.Import(p.ctx, to, s, copying.Set)
		return err
	})
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: nothing was copied", err)
	}
	return copied, err
}
