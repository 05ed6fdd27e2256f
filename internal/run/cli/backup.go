package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

// archived lists the files of a backup, in order: of one without the secret key, and of one with it.
func archived() [][]string {
	return [][]string{{datadir.DatabaseFile}, {datadir.DatabaseFile, datadir.KeyFile}}
}

// errNotSQLite is the error of backup and restore for PostgreSQL, which has its own tools.
var errNotSQLite = errors.New("the database is PostgreSQL: use pg_dump and pg_restore, and copy the secret key; see docs/operating.md")

// backupCmd is wayside backup.
type backupCmd struct {
	configFlags
	WithKey bool   `name:"with-key" help:"Include the secret key in the archive. Anyone with the archive then has the providers' secrets."`
	To      string `arg:"" name:"dir|file" help:"Destination: a folder, in which a file named by the time is created, or a new file."`
}

// Run copies the data of the service into one file. The service may be running.
func (c *backupCmd) Run(p *program) error {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	if cfg.Database.URL != "" {
		return errNotSQLite
	}
	if err := datadir.Require(cfg.DataDir, datadir.DatabaseFile); err != nil {
		return err
	}
	to := c.To
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		to = filepath.Join(to, "wayside-"+p.now().UTC().Format("20060102T150405Z")+".tar.gz")
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already", to), err)
	}
	if err := c.backup(p, cfg, to); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := datadir.NoteBackup(cfg.DataDir, p.now()); err != nil { // without the note, only wayside doctor does not know of the backup
		p.say("The backup is made, but its time could not be recorded: " + err.Error())
	}
	p.printf("%s\n", to)
	if !c.WithKey {
		p.say("The archive is without " + datadir.KeyFile + ": keep a copy of that apart from it, or use --with-key.")
	}
	return nil
}

// backup copies the files into a temporary folder beside the archive and packs them. The archive is linked to its name once
// it is complete.
func (c *backupCmd) backup(p *program, cfg *config.Config, to string) (err error) {
	if c.WithKey {
		if !datadir.HasKey(cfg.DataDir) {
			return fmt.Errorf("there is no %s in %s", datadir.KeyFile, cfg.DataDir)
		}
		if _, err := datadir.SecretKey(cfg.DataDir); err != nil {
			return err
		}
	}
	db, err := sqlite.Open(p.ctx, filepath.Join(cfg.DataDir, datadir.DatabaseFile), sqlite.Options{Now: p.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	staging, err := os.MkdirTemp(filepath.Dir(to), ".wayside-backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()

	copying := newProgress(p.stderr, p.say, "copying the database", "pages")
	err = db.Backup(p.ctx, filepath.Join(staging, datadir.DatabaseFile), func(done, total int) { copying.Set(int64(done), int64(total)) })
	copying.Close()
	if err != nil {
		return err
	}
	if c.WithKey {
		if err := copyFile(filepath.Join(cfg.DataDir, datadir.KeyFile), filepath.Join(staging, datadir.KeyFile)); err != nil {
			return err
		}
	}
	part := filepath.Join(staging, "archive")
	if err := c.pack(p, staging, part); err != nil {
		return err
	}
	return os.Link(part, to) // fails if the file was created meanwhile
}

func (c *backupCmd) pack(p *program, staging, part string) (err error) {
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	packing := newProgress(p.stderr, p.say, "packing", "bytes")
	defer packing.Close()
	names := archived()[0]
	if c.WithKey {
		names = archived()[1]
	}
	err = writeArchive(p.ctx, file, staging, names, p.now(), packing.Add)
	return errors.Join(err, file.Sync(), file.Close())
}

// say prints a line of progress without a terminal.
func (p *program) say(line string) { _, _ = fmt.Fprintln(p.stderr, line) }

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// restoreCmd is wayside restore.
type restoreCmd struct {
	configFlags
	Force bool   `name:"force" help:"Overwrite the data directory."`
	From  string `arg:"" name:"file" help:"The backup file."`
}

// Run restores a backup. It changes nothing in the data directory before it has verified all checksums.
func (c *restoreCmd) Run(p *program) (err error) {
	cfg, err := c.load(p, nil)
	if err != nil {
		return err
	}
	if cfg.Database.URL != "" {
		return errNotSQLite
	}
	file, err := os.Open(c.From)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := datadir.Make(cfg.DataDir); err != nil {
		return err
	}
	release, err := datadir.Lock(cfg.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := c.mayReplace(cfg.DataDir); err != nil {
		return err
	}
	m, err := c.restore(p, file, cfg.DataDir)
	if err != nil {
		return err
	}
	p.printf("restored what wayside %s backed up at %s into %s\n", m.Version, m.CreatedAt.Format("2006-01-02 15:04:05 MST"), cfg.DataDir)
	switch {
	case m.holds(datadir.KeyFile):
	case datadir.HasKey(cfg.DataDir):
		p.printf("The backup is without %s; the one in the data directory stays.\n", datadir.KeyFile)
	default:
		p.printf("The backup is without %s: put your copy of it into %s before the service starts.\n", datadir.KeyFile, cfg.DataDir)
	}
	return nil
}

// mayReplace fails for a data directory that is not empty, unless --force is set. A secret key and regions may be there already.
func (c *restoreCmd) mayReplace(dir string) error {
	if c.Force {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != datadir.LockFile && entry.Name() != datadir.KeyFile && entry.Name() != datadir.AddressFile && entry.Name() != datadir.BackupFile && entry.Name() != datadir.RegionFolder && entry.Name() != datadir.SpeechFolder {
			return fmt.Errorf("%s is not empty: name an empty data directory, or replace what is there with --force", dir)
		}
	}
	return nil
}

// restore unpacks into a temporary folder in the data directory, and renames the files once all are valid.
func (c *restoreCmd) restore(p *program, file *os.File, dir string) (_ *manifest, err error) {
	staging, err := os.MkdirTemp(dir, ".restore-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	unpacking := newProgress(p.stderr, p.say, "unpacking", "bytes")
	m, err := readArchive(p.ctx, file, staging, archived(), unpacking.Add)
	unpacking.Close()
	if err != nil {
		return nil, err
	}
	replaced := archived()[0]
	if m.holds(datadir.KeyFile) {
		replaced = archived()[1]
		if _, err := datadir.SecretKey(staging); err != nil {
			return nil, err
		}
	}
	if err := renewEpoch(p.ctx, filepath.Join(staging, datadir.DatabaseFile)); err != nil {
		return nil, err
	}
	for _, name := range append([]string{datadir.DatabaseFile + "-wal", datadir.DatabaseFile + "-shm"}, replaced...) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	slices.Reverse(replaced) // the database last: without it no service starts
	for _, name := range replaced {
		if err := os.Rename(filepath.Join(staging, name), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return m, syncDir(dir)
}

// renewEpoch changes the epoch of the store, so that replicas load everything again, because the same revisions mean other states
// now. It opens the database before it is put into place, so that a damaged one never is.
func renewEpoch(ctx context.Context, path string) error {
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(store.NewEpoch(ctx), store.Close())
}

// syncDir flushes the entries of a folder to the disk.
func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
