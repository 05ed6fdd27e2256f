package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"wayside/internal/feeds/bridge"
	"wayside/internal/roads/region"
	"wayside/internal/run/datadir"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong arguments or configuration; nothing was done
)

// grammar defines all commands and flags.
type grammar struct {
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Demo       demoCmd       `cmd:"" help:"Run the service with a demo town, in a folder that is removed at the end."`
	Setup      setupCmd      `cmd:"" help:"Create a configuration file and the first curator, and say what to do next."`
	Doctor     doctorCmd     `cmd:"" help:"Check address, e-mail, map, clock, disk and backups, and say what to do."`
	Account    accountCmds   `cmd:"" help:"Create, list and change accounts, also while the service runs."`
	Feed       feedCmds      `cmd:"" help:"List and review feeds, also while the service runs."`
	App        appCmds       `cmd:"" help:"List and review apps, also while the service runs, and check their pages."`
	Pin        pinCmds       `cmd:"" help:"Hide single entities and show them again, also while the service runs."`
	Complaint  complaintCmds `cmd:"" help:"List and close complaints of drivers about sources, also while the service runs."`
	Audit      auditCmd      `cmd:"" help:"Print the audit log, also while the service runs."`
	Notice     noticeCmd     `cmd:"" help:"E-mail all owners of feeds, each once, also while the service runs."`
	Region     regionCmds    `cmd:"" help:"Import, list and remove regions: the roads that routes lead along, also while the service runs."`
	Upstream   upstreamCmds  `cmd:"" help:"List and check the configured upstreams."`
	Validate   validateCmd   `cmd:"" help:"Validate rows with the rules of the service, and show what it would reject."`
	Convert    convertCmd    `cmd:"" help:"Convert a document of another format into rows, as a poll of a feed with that format would."`
	Relay      relayCmd      `cmd:"" help:"Run a sample relay provider, from a file or a pull URL."`
	Backup     backupCmd     `cmd:"" help:"Back up the data of the service into one file, also while it runs."`
	Restore    restoreCmd    `cmd:"" help:"Restore a backup into an empty data directory."`
	Migrate    migrateCmd    `cmd:"" help:"Migrate the database's schema to this version."`
	Copy       copyCmd       `cmd:"" help:"Copy an embedded database into an empty PostgreSQL database."`
	Key        keyCmds       `cmd:"" help:"Replace the secret key."`
	Config     configCmd     `cmd:"" help:"Print the configuration in force, secrets masked."`
	Licences   licencesCmd   `cmd:"" help:"Print the licences of what is built into this program, or list the parts (--sbom)."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// program is the environment of a command.
type program struct {
	ctx    context.Context // ends when the process is asked to stop
	env    []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	now    func() time.Time
}

// Main runs one command with the arguments after the program's name and returns the exit code: 0 for success, 1 for a failure,
// 2 for wrong arguments or configuration. SIGTERM and an interrupt stop it gracefully, a second signal immediately.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal has its default effect
	return run(&program{ctx: ctx, env: os.Environ(), stdin: os.Stdin, stdout: stdout, stderr: stderr, now: time.Now}, args)
}

func run(p *program, args []string) int {
	var g grammar
	helped := false
	parser, err := newParser(&g, p, func(int) { helped = true })
	if err != nil {
		return p.fail(err, exitFailed)
	}
	command, err := parser.Parse(args)
	switch {
	case helped:
		return exitOK
	case err != nil:
		_, _ = fmt.Fprintf(p.stderr, "wayside: %v\nTry wayside --help.\n", err)
		return exitUsage
	}
	if err := command.Run(); err != nil {
		var noData *datadir.NoDataError
		switch {
		case errors.As(err, &noData):
			return p.fail(noData, exitUsage)
		case errors.Is(err, errUsage):
			return p.fail(err, exitUsage)
		case errors.Is(err, errQuiet):
			return exitFailed
		}
		return p.fail(err, exitFailed)
	}
	return exitOK
}

// newParser returns the parser of arguments. Flags that print something and end the program call exit.
func newParser(g *grammar, p *program, exit func(int)) (*kong.Kong, error) {
	return kong.New(g,
		kong.Name("wayside"),
		kong.Description("Self-hosted live road data: collects incidents, cameras and chargers from providers and serves them to drivers."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.Vars{"version": versionText(), "regionProducts": strings.Join(region.ProductNames(), ", "), "bridgeFormats": strings.Join(bridge.Names(), ", ")},
		kong.Bind(p),
	)
}

// errUsage marks errors that exit with exitUsage. Its own text is empty.
var errUsage = errors.New("")

// errQuiet exits with exitFailed without a message: the command has printed its own.
var errQuiet = errors.New("failed")

func (p *program) fail(err error, code int) int {
	_, _ = fmt.Fprintf(p.stderr, "wayside: %v\n", err) // a failure to write cannot be reported
	return code
}

// printf prints to standard output. It ignores write errors, for example of a closed pipe.
func (p *program) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stdout, format, args...)
}
