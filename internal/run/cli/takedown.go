package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
)

// pinCmds are wayside pin ….
type pinCmds struct {
	List pinListCmd `cmd:"" help:"List hidden entities."`
	Hide pinHideCmd `cmd:"" help:"Hide an entity from readers. Its provider gets an e-mail with the reason."`
	Show pinShowCmd `cmd:"" help:"Show a hidden entity again."`
}

// pinArg selects an entity.
type pinArg struct {
	ID string `arg:"" name:"id" help:"The entity's id, as reads return it (feed:…:v1:…)."`
}

// reasonFlag is the reason of a takedown.
type reasonFlag struct {
	Reason string `name:"reason" required:"" placeholder:"R" help:"Reason; included in the e-mail to the provider or account holder."`
}

type pinHideCmd struct {
	adminFlags
	pinArg
	reasonFlag
	For time.Duration `name:"for" placeholder:"D" help:"Duration, such as 48h; permanent by default."`
}

// Run hides an entity.
func (c *pinHideCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		order := takedown.Order{Reason: c.Reason}
		if c.For != 0 {
			order.Until = p.now().Add(c.For)
		}
		hidden, err := deps.Takedowns.Hide(ctx, mapdata.Operator(), c.ID, order)
		if err != nil {
			return err
		}
		return c.showPins(p, []mapdata.HiddenPin{*hidden})
	})
}

type pinShowCmd struct {
	adminFlags
	pinArg
}

// Run shows a hidden entity again.
func (c *pinShowCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		if err := deps.Takedowns.Show(ctx, mapdata.Operator(), c.ID); err != nil {
			return err
		}
		if c.JSON {
			return p.writeJSON(map[string]string{"shown": c.ID})
		}
		p.printf("shown %s\n", printable(c.ID))
		return nil
	})
}

type pinListCmd struct{ adminFlags }

// Run lists the hidden entities.
func (c *pinListCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		all, err := deps.Takedowns.Hidden(ctx, mapdata.Operator(), mapdata.FeedID{})
		if err != nil {
			return err
		}
		return c.showPins(p, all)
	})
}

// pinJSON is a hidden entity in the output of --json.
type pinJSON struct {
	ID         string  `json:"id"`
	ExternalID string  `json:"external_id"`
	Source     string  `json:"source"`
	KindID     string  `json:"kind_id"`
	HiddenAt   apiTime `json:"hidden_at"`
	Until      apiTime `json:"until"` // null: permanently
	Reason     string  `json:"reason"`
}

func (f *adminFlags) showPins(p *program, all []mapdata.HiddenPin) error {
	shown := make([]pinJSON, len(all))
	rows := [][]string{{"ID", "KIND", "HIDDEN", "UNTIL", "REASON"}}
	for i := range all {
		h := &all[i]
		shown[i] = pinJSON{
			ID: mapdata.EntityID(h.Source, h.ExternalID), ExternalID: h.ExternalID, Source: string(h.Source), KindID: h.Kind.ID(),
			HiddenAt: apiTime{h.HiddenAt}, Reason: h.Reason,
		}
		until := "for good"
		if h.Until.Before(mapdata.ForGood()) {
			shown[i].Until, until = apiTime{h.Until}, h.Until.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{shown[i].ID, shown[i].KindID, h.HiddenAt.UTC().Format(time.RFC3339), until, h.Reason})
	}
	if f.JSON {
		return p.writeJSON(shown)
	}
	return p.writeTable(rows)
}

type feedPauseCmd struct {
	adminFlags
	feedArg
	reasonFlag
}

// Run pauses a feed. Its owner gets an e-mail.
func (c *feedPauseCmd) Run(p *program) error {
	return c.withFeed(p, &c.feedArg, func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error) {
		return deps.Feeds.Pause(ctx, mapdata.Operator(), id, c.Reason)
	})
}

type feedResumeCmd struct {
	adminFlags
	feedArg
}

// Run ends a pause. The feed's owner gets an e-mail.
func (c *feedResumeCmd) Run(p *program) error {
	return c.withFeed(p, &c.feedArg, func(ctx context.Context, deps *adminDeps, id mapdata.FeedID) (*feed.View, error) {
		return deps.Feeds.Resume(ctx, mapdata.Operator(), id)
	})
}

type feedRemoveCmd struct {
	adminFlags
	feedArg
	reasonFlag
}

// Run deletes a feed with everything in it. Its owner gets an e-mail.
func (c *feedRemoveCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		id, err := c.id()
		if err != nil {
			return err
		}
		if err := deps.Feeds.Remove(ctx, mapdata.Operator(), id, c.Reason); err != nil {
			return noFeed(err)
		}
		if c.JSON {
			return p.writeJSON(map[string]string{"removed": id.String()})
		}
		p.printf("removed %s\n", id)
		return nil
	})
}

type accountSuspendCmd struct {
	adminFlags
	emailFlag
	reasonFlag
}

// Run suspends an account. Its holder gets an e-mail.
func (c *accountSuspendCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.Suspend(ctx, nil, c.Email, c.Reason)
		if err != nil {
			return err
		}
		return c.showAccount(p, "suspended", a)
	})
}

type accountResumeCmd struct {
	adminFlags
	emailFlag
}

// Run ends a suspension. The account's holder gets an e-mail.
func (c *accountResumeCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		a, err := deps.Accounts.Resume(ctx, nil, c.Email)
		if err != nil {
			return err
		}
		return c.showAccount(p, "resumed", a)
	})
}

// complaintCmds are wayside complaint ….
type complaintCmds struct {
	List  complaintListCmd  `cmd:"" help:"List open complaints, oldest first."`
	Close complaintCloseCmd `cmd:"" help:"Close a complaint."`
}

type complaintListCmd struct{ adminFlags }

// complaintJSON is a complaint in the output of --json.
type complaintJSON struct {
	ID         string  `json:"id"`
	Source     string  `json:"source"`
	SourceName string  `json:"source_name"`
	EntityID   string  `json:"entity_id"`
	Email      string  `json:"email"`
	Text       string  `json:"text"`
	At         apiTime `json:"at"`
}

// Run lists the open complaints.
func (c *complaintListCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		all, open, err := deps.Takedowns.Complaints(ctx, mapdata.Operator())
		if err != nil {
			return err
		}
		shown := make([]complaintJSON, len(all))
		rows := [][]string{{"ID", "SOURCE", "ENTITY", "BY", "AT", "TEXT"}}
		for i := range all {
			o := &all[i]
			shown[i] = complaintJSON{o.ID, string(o.Source), o.SourceName, mapdata.EntityID(o.Source, o.ExternalID), o.Email, o.Text, apiTime{o.At}}
			name := shown[i].SourceName
			if name == "" {
				name = shown[i].Source
			}
			rows = append(rows, []string{o.ID, name, shown[i].EntityID, o.Email, o.At.UTC().Format(time.RFC3339), o.Text})
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		if err := p.writeTable(rows); err != nil {
			return err
		}
		if open > len(all) {
			p.printf("%d more wait.\n", open-len(all))
		}
		return nil
	})
}

type complaintCloseCmd struct {
	adminFlags
	ID   string `arg:"" name:"id" help:"The complaint's id."`
	Note string `name:"note" placeholder:"N" help:"Note for the audit log."`
}

// Run closes a complaint.
func (c *complaintCloseCmd) Run(p *program) error {
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		err := deps.Takedowns.CloseComplaint(ctx, mapdata.Operator(), c.ID, c.Note)
		if errors.Is(err, mapdata.ErrNotFound) {
			return errors.New("no complaint with this id waits")
		}
		return err
	})
}

// auditCmd is wayside audit.
type auditCmd struct {
	adminFlags
	Feed    string `name:"feed" placeholder:"ID" help:"Only entries on this feed."`
	Account string `name:"account" placeholder:"E" help:"Only entries by or on this account: its id or e-mail address."`
	Subject string `name:"subject" placeholder:"ID" help:"Only entries on this id, such as an entity's."`
	Action  string `name:"action" placeholder:"A" help:"Only this action, such as pin.hide."`
	Before  int64  `name:"before" placeholder:"N" help:"Only entries older than this one."`
	Limit   int    `name:"limit" default:"50" help:"At most this many, newest first; up to 1000."`
}

// maxAuditEntries bounds one output.
const maxAuditEntries = 1000

// auditJSON is an entry in the output of --json.
type auditJSON struct {
	ID          int64   `json:"id"`
	At          apiTime `json:"at"`
	Via         string  `json:"via"`
	ActorEmail  string  `json:"actor_email"` // empty: the operator or the service, as via says, or an account that was deleted
	Action      string  `json:"action"`
	Subject     string  `json:"subject"`
	SubjectName string  `json:"subject_name"`
	Note        string  `json:"note"`
}

// Run prints the newest entries of the audit log.
func (c *auditCmd) Run(p *program) error {
	if c.Limit < 1 || c.Limit > maxAuditEntries {
		return fmt.Errorf("--limit must be 1 to %d%w", maxAuditEntries, errUsage)
	}
	return c.with(p, func(ctx context.Context, deps *adminDeps) error {
		filter := audit.Filter{Feed: c.Feed, Account: c.Account, Subject: c.Subject, Action: c.Action, Before: c.Before}
		page, err := deps.Audit.ReadAll(ctx, filter, c.Limit)
		if err != nil {
			return err
		}
		shown := make([]auditJSON, len(page.Records))
		rows := [][]string{{"ID", "AT", "VIA", "BY", "ACTION", "SUBJECT", "NOTE"}}
		for i := range page.Records {
			r := &page.Records[i]
			shown[i] = auditJSON{r.ID, apiTime{r.At}, string(r.Via), r.ActorEmail, r.Action, r.Subject, r.Named, r.Note}
			subject := r.Subject
			if r.Named != "" {
				subject += " (" + r.Named + ")"
			}
			rows = append(rows, []string{fmt.Sprint(r.ID), r.At.UTC().Format(time.RFC3339), shown[i].Via, r.ActorEmail, r.Action, subject, r.Note})
		}
		if c.JSON {
			return p.writeJSON(shown)
		}
		if err := p.writeTable(rows); err != nil {
			return err
		}
		if page.Next != 0 {
			p.printf("Older entries: --before %d\n", page.Next)
		}
		return nil
	})
}
