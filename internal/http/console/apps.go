package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
)

const (
	appsPath         = "/apps"
	appPath          = "/apps/{slug}"
	newAppPath       = "/apps/new"
	ownAppsPath      = "/apps/own"
	ownAppPath       = "/apps/own/{id}"
	reviewAppPath    = "/apps/review/{id}"
	installedAppPath = "/account/apps/{id}"
)

// appRoutes returns the routes of the pages of apps, or none without the service of apps: the console of a running service has that
// only while apps are enabled.
func (c *Console) appRoutes() []Route {
	if c != nil && c.Apps == nil {
		return nil
	}
	own, curators := account.ForOwnersAlone, account.ForCurators
	return []Route{
		{Method: http.MethodGet, Path: appsPath, Who: account.ForGuests, Handle: c.getApps},
		{Method: http.MethodGet, Path: appPath, Who: account.ForGuests, Handle: c.getApp},
		{Method: http.MethodGet, Path: newAppPath, Who: account.ForAccounts, Handle: c.getNewApp},
		{Method: http.MethodPost, Path: newAppPath, Who: account.ForAccounts, Handle: c.postNewApp},
		{Method: http.MethodGet, Path: ownAppsPath, Who: account.ForAccounts, Handle: c.getOwnApps},
		{Method: http.MethodGet, Path: ownAppPath, Who: own, Handle: c.getOwnApp},
		{Method: http.MethodGet, Path: ownAppPath + "/version", Who: own, Handle: c.getNewVersion},
		{Method: http.MethodPost, Path: ownAppPath + "/version", Who: own, Handle: c.postNewVersion},
		{Method: http.MethodPost, Path: ownAppPath + "/withdraw", Who: own, Handle: c.postWithdrawVersion},
		{Method: http.MethodGet, Path: reviewAppPath, Who: curators, Handle: c.getReviewApp},
		{Method: http.MethodPost, Path: reviewAppPath + "/approve", Who: curators, Handle: c.postApproveApp},
		{Method: http.MethodPost, Path: reviewAppPath + "/reject", Who: curators, Handle: c.postRejectApp},
		{Method: http.MethodPost, Path: reviewAppPath + "/suspend", Who: curators, Handle: c.postSuspendApp},
		{Method: http.MethodPost, Path: reviewAppPath + "/resume", Who: curators, Handle: c.postResumeApp},
		{Method: http.MethodGet, Path: installedAppPath, Who: account.ForAccounts, Handle: c.getInstalledApp},
		{Method: http.MethodPost, Path: installedAppPath, Who: account.ForAccounts, Handle: c.postInstalledApp},
		{Method: http.MethodPost, Path: installedAppPath + "/show", Who: account.ForAccounts, Handle: c.postShowApp},
		{Method: http.MethodGet, Path: installedAppPath + "/uninstall", Who: account.ForAccounts, Handle: c.getUninstallApp},
		{Method: http.MethodPost, Path: installedAppPath + "/uninstall", Who: account.ForAccounts, Handle: c.postUninstallApp},
		{Method: http.MethodPost, Path: "/account/public-name", Who: account.ForAccounts, Handle: c.postPublicName},
	}
}

// appID parses the app's id in the path.
func appID(r *http.Request) (mapdata.AppID, error) {
	id, ok := mapdata.ParseAppID(r.PathValue("id"))
	if !ok {
		return id, mapdata.ErrNotFound
	}
	return id, nil
}

// appURL returns the path of an app's page in the catalogue.
func appURL(a *mapdata.App) string { return appsPath + "/" + url.PathEscape(a.Slug) }

func ownAppURL(id mapdata.AppID) string       { return ownAppsPath + "/" + id.String() }
func reviewAppURL(id mapdata.AppID) string    { return appsPath + "/review/" + id.String() }
func installedAppURL(id mapdata.AppID) string { return accountPath + "/apps/" + id.String() }

// iconURL returns the path of an app's icon; empty: it has none.
func iconURL(l *apps.Listed) string {
	if l.Version.Fields.Icon == "" {
		return ""
	}
	return apps.IconPath(l.ID, l.Version.Fields.Icon)
}

// appKinds returns the kinds in the order of the pages.
func appKinds() []mapdata.AppKind {
	return []mapdata.AppKind{mapdata.AppWidget, mapdata.AppNotifications, mapdata.AppPins, mapdata.AppCustomLayer}
}

// appLine is one app of a list.
type appLine struct {
	*apps.Listed
	Address string
	Icon    string
}

// Fields returns the fields that the developer submitted.
func (l *appLine) Fields() *mapdata.AppFields { return &l.Version.Fields }

// Letter returns the first letter of the app's name, which stands for a missing icon.
func (l *appLine) Letter() string {
	for _, r := range l.Fields().Name {
		return strings.ToUpper(string(r))
	}
	return ""
}

func newAppLine(l *apps.Listed, address string) appLine {
	return appLine{l, address, iconURL(l)}
}

// appsPage is the catalogue.
type appsPage struct {
	Apps  []appLine
	Kind  mapdata.AppKind // only apps of this kind are shown; empty: all
	Kinds []mapdata.AppKind
}

// getApps answers GET /apps?kind=….
func (c *Console) getApps(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page := appsPage{Kinds: appKinds()}
	var only []mapdata.AppKind
	if kind := mapdata.AppKind(r.URL.Query().Get("kind")); slices.Contains(page.Kinds, kind) {
		page.Kind, only = kind, []mapdata.AppKind{kind}
	}
	for _, l := range c.Apps.Catalogue(only) {
		page.Apps = append(page.Apps, newAppLine(l, appURL(l.App)))
	}
	return c.show(w, r, v, &Page{Name: "apps", Data: &page, Wide: true})
}

// appPage is one app of the catalogue.
type appPage struct {
	appLine
	Sources   []appSource
	Installed bool
	Settings  string // path of the page that installs it and changes its settings
	Review    string // path of its review; empty: the visitor is no curator
	Own       string // path of its developer's page; empty: the visitor is somebody else
}

// Framed reports whether the app is a web page beside the map.
func (p *appPage) Framed() bool { return apps.Framed(p.Version.Fields.Kinds) }

// appSource is a source whose data an app shows.
type appSource struct {
	*mapdata.Feed
	Address string
}

// appSources returns the listed sources whose data an app shows.
func (c *Console) appSources(f *mapdata.AppFields) []appSource {
	var all []appSource
	for _, text := range f.FeedIDs {
		id, ok := mapdata.ParseFeedID(text)
		if !ok {
			continue
		}
		if source := c.Sources.Feed(id, mapdata.AccountID{}); source != nil && source.Listed() {
			all = append(all, appSource{source, sourcesPath + "/" + url.PathEscape(string(id.SourceID()))})
		}
	}
	return all
}

// getApp answers GET /apps/{slug}.
func (c *Console) getApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	l, err := c.Apps.BySlug(r.PathValue("slug"))
	if err != nil {
		return err
	}
	page := appPage{
		appLine: newAppLine(l, appURL(l.App)), Sources: c.appSources(&l.Version.Fields), Settings: installedAppURL(l.ID),
	}
	if person := v.Person(); person != nil {
		installed, err := c.installed(r, v, l.ID)
		if err != nil && !errors.Is(err, mapdata.ErrNotFound) {
			return err
		}
		page.Installed = installed != nil
		if person.MayReview() {
			page.Review = reviewAppURL(l.ID)
		}
		if l.Owner == person.ID {
			page.Own = ownAppURL(l.ID)
		}
	}
	return c.show(w, r, v, &Page{Name: "app", Data: &page})
}

// ownApp is one of the visitor's own apps.
type ownApp struct {
	*mapdata.App
	Address  string
	Current  *mapdata.AppVersion // the version that describes it: the newest
	Approved *mapdata.AppVersion // nil: none is
	Pending  *mapdata.AppVersion // nil: none is
	Listing  string              // path in the catalogue; empty: it is not there
	Newest   []appVersion
}

// appVersion is a version of an app on its developer's page.
type appVersion struct {
	*mapdata.AppVersion
}

// Tone returns how the page marks the version's state: good, bad or open.
func (v appVersion) Tone() string {
	switch v.State {
	case mapdata.AppApproved:
		return "good"
	case mapdata.AppRejected:
		return "bad"
	case mapdata.AppPending:
		return "open"
	case mapdata.AppSuperseded, mapdata.AppWithdrawn:
	}
	return ""
}

func newOwnApp(a *mapdata.App) ownApp {
	o := ownApp{App: a, Address: ownAppURL(a.ID), Approved: a.Version(mapdata.AppApproved), Pending: a.Version(mapdata.AppPending)}
	for i := range slices.Backward(a.Versions) {
		o.Newest = append(o.Newest, appVersion{&a.Versions[i]})
	}
	o.Current = o.Newest[0].AppVersion
	if a.Served() {
		o.Listing = appURL(a)
	}
	return o
}

// PageChanged returns the approved version if its page differs from the approved one; otherwise nil.
func (o *ownApp) PageChanged() *mapdata.AppVersion { return pageChanged(o.Approved) }

func pageChanged(approved *mapdata.AppVersion) *mapdata.AppVersion {
	if approved == nil || approved.Page.ChangedAt.IsZero() {
		return nil
	}
	return approved
}

// Suspended reports whether a curator suspended the app.
func (o *ownApp) Suspended() bool { return !o.SuspendedAt.IsZero() }

// getOwnApps answers GET /apps/own.
func (c *Console) getOwnApps(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	all, err := c.Apps.ListOwn(r.Context(), mapdata.ActorOf(v.Account))
	if err != nil {
		return err
	}
	page := make([]ownApp, len(all))
	for i := range all {
		page[i] = newOwnApp(&all[i])
	}
	return c.show(w, r, v, &Page{Name: "apps-own", Data: page, Wide: true})
}

// ownAppOf reads the app of the path if the visitor owns it.
func (c *Console) ownAppOf(r *http.Request, v *Visitor) (*mapdata.App, error) {
	id, err := appID(r)
	if err != nil {
		return nil, err
	}
	a, err := c.Apps.Versions(r.Context(), mapdata.ActorOf(v.Account), id)
	if err == nil && a.Owner != v.ID() {
		err = mapdata.ErrNotFound
	}
	return a, err
}

// getOwnApp answers GET /apps/own/{id}.
func (c *Console) getOwnApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	a, err := c.ownAppOf(r, v)
	if err != nil {
		return err
	}
	page := newOwnApp(a)
	return c.show(w, r, v, &Page{Name: "app-own", Data: &page})
}

// postWithdrawVersion withdraws the pending version that the page showed.
func (c *Console) postWithdrawVersion(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	a, err := c.ownAppOf(r, v)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	number, err := form.version()
	if err != nil {
		return err
	}
	if _, _, err := c.Apps.Withdraw(r.Context(), mapdata.ActorOf(v.Account), a.ID, number); err != nil {
		return err
	}
	return seeOther(w, ownAppURL(a.ID)+"?done=app-withdrawn")
}

// postPublicName sets the name under which the catalogue shows the visitor's apps.
func (c *Console) postPublicName(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	err = c.Accounts.SetPublicName(r.Context(), v.ID(), form.raw("public_name"))
	if form.addErrors(v.Words, err) {
		return c.showAccount(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=public-name#public-name")
}
