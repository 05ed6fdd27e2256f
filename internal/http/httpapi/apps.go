package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/response"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
)

// maxSubmissionBytes bounds a submission: texts, schema, report and an icon of the maximum sizes fit.
const maxSubmissionBytes = 192 << 10

// appRoutes returns the API's resources of apps (D16.12). They exist only if the operator enabled apps.
func (a *api) appRoutes() []route {
	return []route{
		{http.MethodGet, "/v2/apps", classRead, account.ForGuests, a.getApps},
		{http.MethodPost, "/v2/apps", classAccount, account.ForAccounts, a.postApp},
		{http.MethodGet, "/v2/apps/{id}", classRead, account.ForGuests, a.getApp},
		{http.MethodGet, "/v2/apps/{id}/icons/{file}", classOpen, account.ForGuests, a.getAppIcon},
		{http.MethodGet, "/v2/apps/{id}/versions", classAccount, account.ForOwnersAndCurators, a.getAppVersions},
		{http.MethodPost, "/v2/apps/{id}/versions", classAccount, account.ForOwners, a.postAppVersion},
		{http.MethodPost, "/v2/apps/{id}/versions/{n}/withdraw", classAccount, account.ForOwners, a.postAppWithdraw},
		{http.MethodPost, "/v2/apps/{id}/versions/{n}/approve", classAccount, account.ForCurators, a.postAppApprove},
		{http.MethodPost, "/v2/apps/{id}/versions/{n}/reject", classAccount, account.ForCurators, a.postAppReject},
		{http.MethodPost, "/v2/apps/{id}/suspend", classAccount, account.ForCurators, a.postAppSuspend},
		{http.MethodPost, "/v2/apps/{id}/resume", classAccount, account.ForCurators, a.postAppResume},

		{http.MethodGet, schemasPath + "{file}", classOpen, account.ForGuests, a.getAppSchema},

		{http.MethodPut, publicNamePath, classAccount, account.ForAccounts, a.putPublicName},
		{http.MethodGet, "/v2/account/apps", classAccount, account.ForScreens, a.getInstalledApps},
		{http.MethodPut, "/v2/account/apps/{id}", classAccount, account.ForScreens, a.putInstalledApp},
		{http.MethodDelete, "/v2/account/apps/{id}", classAccount, account.ForAccounts, a.deleteInstalledApp},
		{http.MethodPost, "/v2/account/apps/{id}/frame", classAccount, account.ForScreens, a.postAppFrame},
	}
}

// appJSON is an app as the catalogue shows it.
type appJSON struct {
	ID           string             `json:"id"`
	Slug         string             `json:"slug"`
	Name         string             `json:"name"`
	Summary      string             `json:"summary"`
	Description  string             `json:"description"`
	Kinds        []mapdata.AppKind  `json:"kinds"`
	WidgetURL    *string            `json:"widget_url"`
	WebsiteURL   *string            `json:"website_url"`
	PrivacyURL   *string            `json:"privacy_url"`
	IconURL      *string            `json:"icon_url"`
	Domains      []string           `json:"domains"`
	ConfigSchema json.RawMessage    `json:"config_schema"`
	Cost         appCostJSON        `json:"cost"`
	Sources      []mapdata.SourceID `json:"sources"`
	Developer    string             `json:"developer"`
	Version      int                `json:"version"`
	UpdatedAt    timestamp          `json:"updated_at"`
	Development  bool               `json:"development,omitempty"` // its page is at an origin for developing apps
	Changed      bool               `json:"changed_since_review,omitempty"`
}

func (a *api) newAppJSON(l *apps.Listed) appJSON {
	f := &l.Version.Fields
	out := appJSON{
		ID: l.ID.String(), Slug: l.Slug, Name: f.Name, Summary: f.Summary, Description: f.Description, Kinds: f.Kinds,
		WidgetURL: orNull(f.WidgetURL), WebsiteURL: orNull(f.WebsiteURL), PrivacyURL: orNull(f.PrivacyURL),
		Domains: orEmptyList(f.Domains), ConfigSchema: apps.SchemaJSON(f.ConfigSchema), Cost: appCostJSON(f.Cost),
		Developer: l.Developer, Version: l.Version.Number, UpdatedAt: timestamp(l.Version.SubmittedAt), Development: l.Dev, Changed: l.Changed,
		Sources: []mapdata.SourceID{}, IconURL: a.iconURL(l.App, f.Icon),
	}
	if !l.Version.DecidedAt.IsZero() {
		out.UpdatedAt = timestamp(l.Version.DecidedAt)
	}
	for _, text := range f.FeedIDs {
		if id, ok := mapdata.ParseFeedID(text); ok {
			out.Sources = append(out.Sources, id.SourceID())
		}
	}
	return out
}

type appCostJSON struct {
	Model string `json:"model"`
	Note  string `json:"note,omitempty"`
}

// iconURL returns the URL of an app's icon; nil: it has none.
func (a *api) iconURL(app *mapdata.App, name string) *string {
	if name == "" {
		return nil
	}
	return orNull(a.BaseURL + apps.IconPath(app.ID, name))
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func orEmptyList[L ~[]T, T any](list L) L {
	if list == nil {
		return L{}
	}
	return list
}

// appVersionJSON is a version for callers who may see all of it.
type appVersionJSON struct {
	Number       int               `json:"number"`
	State        mapdata.AppState  `json:"state"`
	ReviewNote   *string           `json:"review_note"`
	SubmittedAt  timestamp         `json:"submitted_at"`
	DecidedAt    timestamp         `json:"decided_at"`
	Report       json.RawMessage   `json:"report"`
	Name         string            `json:"name"`
	Summary      string            `json:"summary"`
	Description  string            `json:"description"`
	Kinds        []mapdata.AppKind `json:"kinds"`
	FeedIDs      []string          `json:"feed_ids"`
	WidgetURL    *string           `json:"widget_url"`
	WebsiteURL   *string           `json:"website_url"`
	PrivacyURL   *string           `json:"privacy_url"`
	IconURL      *string           `json:"icon_url"`
	Domains      []string          `json:"domains"`
	ConfigSchema json.RawMessage   `json:"config_schema"`
	Cost         appCostJSON       `json:"cost"`
	Changelog    string            `json:"changelog"`
	PageChanged  *timestamp        `json:"page_changed_at"` // null: it did not change since the approval
}

func (a *api) newAppVersionJSON(app *mapdata.App, v *mapdata.AppVersion) appVersionJSON {
	f := &v.Fields
	out := appVersionJSON{
		Number: v.Number, State: v.State, ReviewNote: orNull(v.Note), SubmittedAt: timestamp(v.SubmittedAt), DecidedAt: timestamp(v.DecidedAt),
		Report: json.RawMessage("null"), IconURL: a.iconURL(app, f.Icon), Name: f.Name, Summary: f.Summary, Description: f.Description, Kinds: f.Kinds,
		FeedIDs: orEmptyList(f.FeedIDs), WidgetURL: orNull(f.WidgetURL), WebsiteURL: orNull(f.WebsiteURL), PrivacyURL: orNull(f.PrivacyURL),
		Domains: orEmptyList(f.Domains), ConfigSchema: apps.SchemaJSON(f.ConfigSchema), Cost: appCostJSON(f.Cost), Changelog: f.Changelog,
	}
	if at := v.Page.ChangedAt; !at.IsZero() {
		changed := timestamp(at)
		out.PageChanged = &changed
	}
	if v.Report != "" {
		out.Report = json.RawMessage(v.Report)
	}
	return out
}

// appAnswers holds answers of GET /v2/apps to one snapshot of the catalogue, by the requested kinds: bit k is appKinds[k].
type appAnswers struct {
	snapshot apps.Snapshot
	byKinds  [1 << 4]atomic.Pointer[appAnswer]
}

type appAnswer struct {
	body []byte
	etag string
}

func appKinds() []mapdata.AppKind {
	return []mapdata.AppKind{mapdata.AppPins, mapdata.AppCustomLayer, mapdata.AppWidget, mapdata.AppNotifications}
}

// getApps answers GET /v2/apps with the catalogue. Each answer is encoded once after a change.
func (a *api) getApps(w http.ResponseWriter, r *http.Request, _ *caller) error {
	kinds, mask, err := askedKinds(r)
	if err != nil {
		return err
	}
	snapshot := a.Apps.Snapshot()
	all := a.appAnswers.Load()
	if all == nil || all.snapshot != snapshot {
		all = &appAnswers{snapshot: snapshot}
		a.appAnswers.Store(all)
	}
	answer := all.byKinds[mask].Load()
	if answer == nil {
		if answer, err = a.encodeApps(snapshot.Apps(kinds)); err != nil {
			return err
		}
		all.byKinds[mask].Store(answer)
	}
	h := w.Header()
	h.Set("Cache-Control", cacheListing)
	h.Set("ETag", answer.etag)
	if response.MatchesETag(r.Header["If-None-Match"], answer.etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	response.Write(w, r, http.StatusOK, "application/json", answer.body)
	return nil
}

func (a *api) encodeApps(listed []*apps.Listed) (*appAnswer, error) {
	list := make([]appJSON, len(listed))
	for i, l := range listed {
		list[i] = a.newAppJSON(l)
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"apps": list}); err != nil {
		return nil, fmt.Errorf("encode the catalogue of apps: %w", err)
	}
	return &appAnswer{body.Bytes(), response.ETag(body.Bytes())}, nil
}

// askedKinds parses the parameter kinds: ids with commas between them.
func askedKinds(r *http.Request) (kinds []mapdata.AppKind, mask int, err error) {
	p, err := parseParams(r)
	if err != nil {
		return nil, 0, err
	}
	text, _ := p.value("kinds")
	ids, _ := p.list("kinds", text)
	for _, id := range ids {
		k := slices.Index(appKinds(), mapdata.AppKind(id))
		if k < 0 {
			p.addError("kinds", "unknown_kind", "must be pins, custom_layer, widget or notifications")
			p.problem.ValidIDs = []string{"pins", "custom_layer", "widget", "notifications"}
			continue
		}
		mask |= 1 << k
	}
	if p.problem != nil {
		return nil, 0, p.problem
	}
	for k, kind := range appKinds() {
		if mask&(1<<k) != 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds, mask, nil
}

// appID parses the app's id in the path.
func appID(r *http.Request) (mapdata.AppID, error) {
	id, ok := mapdata.ParseAppID(r.PathValue("id"))
	if !ok {
		return id, mapdata.ErrNotFound
	}
	return id, nil
}

// getApp answers GET /v2/apps/{id} with an app of the catalogue.
func (a *api) getApp(w http.ResponseWriter, r *http.Request, _ *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	l, err := a.Apps.App(id)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", cacheListing)
	return writeJSON(w, r, http.StatusOK, map[string]any{"app": a.newAppJSON(l)})
}

// iconPolicy keeps a browser that opens an icon from loading or running anything.
const iconPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// getAppIcon answers GET /v2/apps/{id}/icons/{file} with an icon as this service encoded it. Its name is a hash of it, so that it
// never changes. An icon of the catalogue is in memory, and public; another one is for the app's owner and curators, and counts as
// their other requests.
func (a *api) getAppIcon(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	cached := "public, max-age=31536000, immutable"
	icon, err := a.Apps.Icon(id, r.PathValue("file"))
	if err != nil {
		cached = "private, max-age=3600"
		if icon, err = a.otherAppIcon(r, c, id); err != nil {
			return err
		}
	}
	media := "image/png"
	if strings.HasSuffix(icon.Name, ".svg") {
		media = "image/svg+xml"
	}
	h := w.Header()
	h.Set("Cache-Control", cached)
	h.Set("Content-Security-Policy", iconPolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	response.Write(w, r, http.StatusOK, media, icon.Image)
	return nil
}

// otherAppIcon returns the icon of the path if it is not one of the catalogue.
func (a *api) otherAppIcon(r *http.Request, c *caller, id mapdata.AppID) (*mapdata.AppIcon, error) {
	if err := a.identify(r, c, false); err != nil {
		return nil, err
	}
	if c.account == nil {
		return nil, mapdata.ErrNotFound
	}
	if err := a.limitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account"); err != nil {
		return nil, err
	}
	return a.Apps.OtherIcon(r.Context(), mapdata.ActorOf(c.account), id, r.PathValue("file"))
}

// postApp answers POST /v2/apps, a submission.
func (a *api) postApp(w http.ResponseWriter, r *http.Request, c *caller) error {
	f, err := readFieldsUpTo(w, r, maxSubmissionBytes)
	if err != nil {
		return err
	}
	app, err := a.Apps.Submit(r.Context(), mapdata.ActorOf(c.account), f.members)
	if err != nil {
		return err
	}
	v := &app.Versions[0]
	return writeJSON(w, r, http.StatusCreated, map[string]any{"app": a.newAppJSON(a.Apps.Describe(app, v)), "version": a.newAppVersionJSON(app, v)})
}

// postAppVersion answers POST /v2/apps/{id}/versions, a resubmission.
func (a *api) postAppVersion(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	f, err := readFieldsUpTo(w, r, maxSubmissionBytes)
	if err != nil {
		return err
	}
	app, v, err := a.Apps.Resubmit(r.Context(), mapdata.ActorOf(c.account), id, f.members)
	if err != nil {
		return err
	}
	return writeJSON(w, r, http.StatusCreated, map[string]any{"version": a.newAppVersionJSON(app, v)})
}

// getAppVersions answers GET /v2/apps/{id}/versions for the owner and curators, the newest first.
func (a *api) getAppVersions(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	app, err := a.Apps.Versions(r.Context(), mapdata.ActorOf(c.account), id)
	if err != nil {
		return err
	}
	list := make([]appVersionJSON, 0, len(app.Versions))
	for _, v := range slices.Backward(app.Versions) {
		list = append(list, a.newAppVersionJSON(app, &v))
	}
	return writeJSON(w, r, http.StatusOK, map[string]any{"versions": list})
}

// appVersion parses the app's id and the version's number in the path.
func appVersion(r *http.Request) (id mapdata.AppID, number int, err error) {
	if id, err = appID(r); err != nil {
		return id, 0, err
	}
	number, err = strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return id, 0, mapdata.ErrNotFound
	}
	return id, number, nil
}

// answerVersion returns a function that writes the answer to a decision on a version.
func (a *api) answerVersion(w http.ResponseWriter, r *http.Request) func(*mapdata.App, *mapdata.AppVersion, error) error {
	return func(app *mapdata.App, v *mapdata.AppVersion, err error) error {
		if err != nil {
			return err
		}
		return writeJSON(w, r, http.StatusOK, map[string]any{"version": a.newAppVersionJSON(app, v)})
	}
}

// answerApp returns a function that writes the answer to a decision on an app.
func (a *api) answerApp(w http.ResponseWriter, r *http.Request) func(*mapdata.App, error) error {
	return func(app *mapdata.App, err error) error {
		if err != nil {
			return err
		}
		return writeJSON(w, r, http.StatusOK, map[string]any{"app": a.newAppJSON(a.Apps.Describe(app, apps.Latest(app)))})
	}
}

// postAppWithdraw answers POST /v2/apps/{id}/versions/{n}/withdraw.
func (a *api) postAppWithdraw(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Withdraw(r.Context(), mapdata.ActorOf(c.account), id, number))
}

// postAppApprove answers POST /v2/apps/{id}/versions/{n}/approve. Curators only.
func (a *api) postAppApprove(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Approve(r.Context(), mapdata.ActorOf(c.account), id, number))
}

// readNote reads the body of a decision that requires a note, and checks that the curator may decide now.
func (a *api) readNote(w http.ResponseWriter, r *http.Request, c *caller) (string, error) {
	f, err := readFields(w, r)
	if err != nil {
		return "", err
	}
	note := f.required("note")
	if err := f.check(); err != nil {
		return "", err
	}
	return note, a.Passkeys.AllowDecision(r.Context(), c.session)
}

// postAppReject answers POST /v2/apps/{id}/versions/{n}/reject. Curators only.
func (a *api) postAppReject(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	note, err := a.readNote(w, r, c)
	if err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Reject(r.Context(), mapdata.ActorOf(c.account), id, number, note))
}

// postAppSuspend answers POST /v2/apps/{id}/suspend. Curators only.
func (a *api) postAppSuspend(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	note, err := a.readNote(w, r, c)
	if err != nil {
		return err
	}
	return a.answerApp(w, r)(a.Apps.Suspend(r.Context(), mapdata.ActorOf(c.account), id, note))
}

// postAppResume answers POST /v2/apps/{id}/resume. Curators only.
func (a *api) postAppResume(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.session); err != nil {
		return err
	}
	return a.answerApp(w, r)(a.Apps.Resume(r.Context(), mapdata.ActorOf(c.account), id))
}
