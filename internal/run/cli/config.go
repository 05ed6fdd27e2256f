package cli

// configCmd is wayside config.
type configCmd struct{ listenFlags }

// Run prints the configuration in force.
func (c *configCmd) Run(p *program) error {
	cfg, err := c.load(p)
	if err != nil {
		return err
	}
	return cfg.WriteTOML(p.stdout)
}
