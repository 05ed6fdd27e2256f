package cli

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// accountCmds are wayside account ….
type accountCmds struct {
	Create    accountCreateCmd    `cmd:"" help:"Create an account."`
	List      accountListCmd      `cmd:"" help:"List accounts."`
	Role      accountRoleCmd      `cmd:"" help:"Set an account's role."`
	Tier      accountTierCmd      `cmd:"" help:"Set an account's access tier."`
	Suspend   accountSuspendCmd   `cmd:"" help:"Suspend an account: end its sessions, disable its tokens and hide its feeds until it is resumed."`
	Resume    accountResumeCmd    `cmd:"" help:"Resume a suspended account."`
	LoginLink accountLoginLinkCmd `cmd:"" name:"login-link" help:"Print a URL that signs an account in once, within ten minutes."`
	Show      accountShowCmd      `cmd:"" help:"Show an account with its sessions, API tokens and feeds."`
	Sessions  accountSessionsCmd  `cmd:"" help:"List an account's sessions."`
	SignOut   accountSignOutCmd   `cmd:"" name:"sign-out" help:"Sign an account out of one session or of all."`
	Email     accountEmailCmd     `cmd:"" help:"Change the e-mail address of an account."`
	Delete    accountDeleteCmd    `cmd:"" help:"Permanently delete an account with its feeds."`
}

// signInPath is the path of sign-in links.
const signInPath = "/auth/verify"

// emailFlag selects an account.
type emailFlag struct {
	Email string `name:"email" required:"" placeholder:"E" help:"The account's e-mail address."`
}

type accountCreateCmd struct {
	adminFlags
	emailFlag
}

// Run creates an account.
func (c *accountCreateCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.Create(ctx, c.Email)
		if err != nil {
			return err
		}
		return c.showAccount(p, "created", a)
	})
}

type accountListCmd struct{ adminFlags }

// Run lists every account.
func (c *accountListCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		all, err := deps.Accounts.List(ctx)
		if err != nil {
			return err
		}
		shown := make([]accountJSON, len(all))
		rows := [][]string{{"ID", "E-MAIL", "ROLE", "TIER", "CREATED", "STATE"}}
		for i := range all {
			shown[i] = shapeAccount(&all[i])
			state := ""
			if all[i].Suspended() {
				state = "suspended"
			}
			rows = append(rows, []string{
				shown[i].ID, shown[i].Email, shown[i].Role, shown[i].Tier, shown[i].CreatedAt.UTC().Format(time.RFC3339), state,
			})
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		return p.writeTable(rows)
	})
}

type accountRoleCmd struct {
	adminFlags
	emailFlag
	Role string `arg:"" enum:"driver,curator,admin" help:"driver, curator or admin."`
}

// Run sets a role.
func (c *accountRoleCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.SetRole(ctx, c.Email, mapdata.Role(c.Role))
		if err != nil {
			return err
		}
		return c.showAccount(p, "changed", a)
	})
}

type accountTierCmd struct {
	adminFlags
	emailFlag
	Tier string `arg:"" enum:"account,premium" help:"account or premium."`
}

// Run sets a tier.
func (c *accountTierCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.SetTier(ctx, c.Email, mapdata.Tier(c.Tier))
		if err != nil {
			return err
		}
		return c.showAccount(p, "changed", a)
	})
}

type accountLoginLinkCmd struct {
	adminFlags
	emailFlag
}

// Run prints a sign-in URL. The page at it sends the POST (D11.1).
func (c *accountLoginLinkCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		token, err := deps.Accounts.LoginLink(ctx, c.Email)
		if err != nil {
			return err
		}
		base, err := baseURL(deps.config)
		if err != nil {
			return err
		}
		link := signInLink(base, token)
		if c.JSON {
			return p.writeJSON(map[string]string{"url": link, "token": token})
		}
		p.printf("%s\n", link)
		return nil
	})
}

// signInLink returns the URL that signs in with a token.
func signInLink(base, token string) string {
	return base + signInPath + "?token=" + url.QueryEscape(token)
}

// baseURL returns the address for links: the configured one, or else that of the service that runs on the data directory, whose
// flags and variables this process does not have.
func baseURL(cfg *config.Config) (string, error) {
	if cfg.Set("base_url") {
		return cfg.BaseURL, nil
	}
	running, ok, err := datadir.RunningAddress(cfg.DataDir)
	if err != nil {
		return "", fmt.Errorf("read the address of the running service: %w", err)
	}
	if ok {
		return running.BaseURL, nil
	}
	return cfg.BaseURL, nil
}

// accountJSON is an account in the output of --json.
type accountJSON struct {
	ID            string  `json:"id"`
	Email         string  `json:"email"`
	Role          string  `json:"role"`
	Tier          string  `json:"tier"`
	CreatedAt     apiTime `json:"created_at"`
	SuspendedAt   apiTime `json:"suspended_at"`
	SuspendReason string  `json:"suspend_reason,omitempty"`
}

func shapeAccount(a *mapdata.Account) accountJSON {
	return accountJSON{a.ID.String(), a.Email, string(a.Role), string(a.Tier), apiTime{a.CreatedAt}, apiTime{a.Suspension.At}, a.Suspension.Reason}
}

func (f *adminFlags) showAccount(p *program, what string, a *mapdata.Account) error {
	shown := shapeAccount(a)
	if f.JSON {
		return p.writeJSON(shown)
	}
	p.printf("%s\n", fmt.Sprintf("%s %s %s: role %s, tier %s", what, shown.ID, shown.Email, shown.Role, shown.Tier))
	return nil
}
