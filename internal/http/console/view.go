package console

import (
	"fmt"
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
)

// view is the data of a page's template.
type view struct {
	*Page
	Visitor *Visitor
	Account *mapdata.Account // nil: a guest, or a paired screen
	Lang    mapdata.Language
	Style   string // path of the style sheet
	Links   []navLink
	Modules []string // paths of the page's scripts
	Says    string   // messages of the map's script, as JSON; empty: there is no map
	Here    string   // where the choice of a language redirects back to
	Done    string   // key of the message about what was just done; empty: none

	Languages []mapdata.Language
}

// navLink is a link of the header.
type navLink struct {
	Path, Key string
	Current   bool
}

// navLinks returns the header's links in their order, each with the callers who see it.
func navLinks() []struct {
	path, key string
	who       account.Who
} {
	return []struct {
		path, key string
		who       account.Who
	}{
		{"/feeds", "nav.feeds", account.ForAccounts},
		{"/check", "nav.check", account.ForAccounts},
		{"/review", "nav.review", account.ForCurators},
		{"/audit", "nav.audit", account.ForCurators},
		{"/accounts", "nav.accounts", account.ForAdmins},
		{"/sources", "nav.sources", account.ForGuests},
		{"/apps", "nav.apps", account.ForGuests},
		{"/regions", "nav.regions", account.ForGuests},
		{"/status", "nav.status", account.ForGuests},
	}
}

func (c *Console) view(r *http.Request, v *Visitor, p *Page) (*view, error) {
	out := &view{
		Page: p, Visitor: v, Account: v.Person(), Lang: v.Words.Language, Style: stylePath + "?v=" + c.styleVersion,
		Here: "/about", Languages: mapdata.Languages(),
	}
	for _, n := range navLinks() {
		if n.who.Admit(v.Account, v.Session) == nil && c.hasPage(n.path) {
			out.Links = append(out.Links, navLink{Path: n.path, Key: n.key, Current: r.URL.Path == n.path})
		}
	}
	if here, ok := c.localPath(r.URL.RequestURI()); ok {
		out.Here = here
	}
	if done := "done." + r.URL.Query().Get("done"); v.Words.Has(done) {
		out.Done = done
	}
	for _, name := range p.Scripts {
		address, err := v.ScriptPath(name)
		if err != nil {
			return nil, fmt.Errorf("find a script of the page: %w", err)
		}
		if address == "" {
			continue
		}
		out.Modules = append(out.Modules, address)
		if name == MapScript {
			if out.Says, err = mapMessages(v.Words); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// At reports whether the page is at a path.
func (v *view) At(path string) bool {
	for _, l := range v.Links {
		if l.Current {
			return l.Path == path
		}
	}
	return v.Here == path
}
