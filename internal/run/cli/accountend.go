package cli

import (
	"context"
	"strconv"
	"time"

	"wayside/internal/ground/mapdata"
)

type accountShowCmd struct {
	adminFlags
	emailFlag
}

// accountDetailJSON is an account with its sessions, tokens and feeds in the output of --json.
type accountDetailJSON struct {
	accountJSON
	Language string        `json:"language"`
	Sessions []sessionJSON `json:"sessions"`
	Tokens   []tokenJSON   `json:"api_tokens"`
	Passkeys int           `json:"passkeys"`
	Feeds    []ownFeedJSON `json:"feeds"`
}

type sessionJSON struct {
	ID        string  `json:"id"`
	CreatedAt apiTime `json:"created_at"`
	SeenOn    string  `json:"seen_on"` // the day: the hour would reveal when somebody drives
	Agent     string  `json:"agent"`
	Screen    bool    `json:"screen"` // signed in by pairing
}

type tokenJSON struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	CreatedAt apiTime `json:"created_at"`
}

type ownFeedJSON struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ReviewState string `json:"review_state"`
	Active      bool   `json:"active"`
}

// Run shows an account with its sessions, tokens and feeds.
func (c *accountShowCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.ByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		shown, err := describeAccount(ctx, deps, a)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		rows := [][]string{
			{"id", shown.ID},
			{"e-mail", shown.Email},
			{"role", shown.Role},
			{"tier", shown.Tier},
			{"created", shown.CreatedAt.UTC().Format(time.RFC3339)},
			{"passkeys", strconv.Itoa(shown.Passkeys)},
			{"sessions", strconv.Itoa(len(shown.Sessions))},
			{"API tokens", strconv.Itoa(len(shown.Tokens))},
		}
		if a.Suspended() {
			rows = append(rows, []string{"suspended", shown.SuspendedAt.UTC().Format(time.RFC3339) + ": " + shown.SuspendReason})
		}
		for _, f := range shown.Feeds {
			rows = append(rows, []string{"feed", f.ID + " " + f.Name + " (" + f.ReviewState + ")"})
		}
		return p.writeTable(rows)
	})
}

func describeAccount(ctx context.Context, deps *adminDeps, a *mapdata.Account) (*accountDetailJSON, error) {
	shown := &accountDetailJSON{accountJSON: shapeAccount(a), Language: string(a.Language), Tokens: []tokenJSON{}, Feeds: []ownFeedJSON{}}
	var err error
	if shown.Sessions, err = listSessions(ctx, deps, a); err != nil {
		return nil, err
	}
	tokens, err := deps.Accounts.APITokens(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		shown.Tokens = append(shown.Tokens, tokenJSON{tokens[i].ID, tokens[i].Name, apiTime{tokens[i].CreatedAt}})
	}
	passkeys, err := deps.Store.Passkeys(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	shown.Passkeys = len(passkeys)
	feeds, err := deps.Feeds.List(ctx, mapdata.Operator())
	if err != nil {
		return nil, err
	}
	for i := range feeds {
		if f := &feeds[i]; f.Owner == a.ID {
			shown.Feeds = append(shown.Feeds, ownFeedJSON{f.ID.String(), f.Name, string(f.ReviewState), f.Active})
		}
	}
	return shown, nil
}

func listSessions(ctx context.Context, deps *adminDeps, a *mapdata.Account) ([]sessionJSON, error) {
	sessions, err := deps.Accounts.Sessions(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	shown := make([]sessionJSON, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		shown[i] = sessionJSON{s.ID, apiTime{s.CreatedAt}, s.SeenAt.UTC().Format(time.DateOnly), s.Agent, s.ProvedAt.IsZero()}
	}
	return shown, nil
}

type accountSessionsCmd struct {
	adminFlags
	emailFlag
}

// Run lists the sessions of an account.
func (c *accountSessionsCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.ByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		shown, err := listSessions(ctx, deps, a)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		rows := [][]string{{"ID", "CREATED", "SEEN ON", "SIGNED IN BY", "AGENT"}}
		for i := range shown {
			by := "person"
			if shown[i].Screen {
				by = "pairing"
			}
			rows = append(rows, []string{shown[i].ID, shown[i].CreatedAt.UTC().Format(time.RFC3339), shown[i].SeenOn, by, shown[i].Agent})
		}
		return p.writeTable(rows)
	})
}

type accountSignOutCmd struct {
	adminFlags
	emailFlag
	Session string `name:"session" placeholder:"ID" help:"End this session alone, of those that account sessions lists."`
}

// Run ends sessions.
func (c *accountSignOutCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, ended, err := deps.Accounts.EndSessions(ctx, c.Email, c.Session)
		if err != nil {
			return err
		}
		if c.JSON {
			return p.writeJSON(map[string]any{"id": a.ID.String(), "email": a.Email, "sessions_ended": ended})
		}
		p.printf("ended %d sessions of %s %s; its API tokens and push tokens work as before\n", ended, a.ID, a.Email)
		return nil
	})
}

type accountDeleteCmd struct {
	adminFlags
	emailFlag
}

// Run deletes an account with its feeds.
func (c *accountDeleteCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.Remove(ctx, c.Email)
		if err != nil {
			return err
		}
		return c.showAccount(p, "deleted", a)
	})
}

type accountEmailCmd struct {
	adminFlags
	emailFlag
	To string `name:"to" required:"" placeholder:"E" help:"The new address."`
}

// Run changes the address of an account, without confirmation.
func (c *accountEmailCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.ChangeEmail(ctx, c.Email, c.To)
		if err != nil {
			return err
		}
		return c.showAccount(p, "changed", a)
	})
}
