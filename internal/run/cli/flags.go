package cli

import (
	"fmt"

	"wayside/internal/run/config"
)

// configFlags are the flags of every command that needs the configuration.
type configFlags struct {
	Config  string  `name:"config" placeholder:"FILE" help:"Configuration file (TOML). No file is read without this flag."`
	DataDir *string `name:"data-dir" placeholder:"DIR" help:"Folder for database, key and outbox (data_dir; default ./wayside-data)."`
}

// load reads the configuration.
func (f *configFlags) load(p *program, flags map[string]config.Flag) (*config.Config, error) {
	in := config.Input{File: f.Config, Env: p.env, Flags: flags}
	if f.DataDir != nil {
		if in.Flags == nil {
			in.Flags = make(map[string]config.Flag)
		}
		in.Flags["data_dir"] = config.Flag{Name: "--data-dir", Value: *f.DataDir}
	}
	cfg, err := config.Load(in)
	if err != nil {
		return nil, fmt.Errorf("%w%w", errUsage, err)
	}
	return cfg, nil
}

// listenFlags are configFlags with the public address.
type listenFlags struct {
	configFlags
	Listen *string `name:"listen" placeholder:"HOST:PORT" help:"Public address (http.listen; default 127.0.0.1:8080)."`
}

func (f *listenFlags) load(p *program) (*config.Config, error) {
	flags := make(map[string]config.Flag)
	if f.Listen != nil {
		flags["http.listen"] = config.Flag{Name: "--listen", Value: *f.Listen}
	}
	return f.configFlags.load(p, flags)
}
