package apps

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
	"wayside/internal/http/httpapi"
	"wayside/internal/people/apps"
)

// maxSubmissionBytes bounds a submission: texts, schema, report and an icon of the maximum sizes fit.
const maxSubmissionBytes = 192 << 10

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
	UpdatedAt    httpapi.Timestamp  `json:"updated_at"`
	Development  bool               `json:"development,omitempty"` // its page is at an origin for developing apps
	Changed      bool               `json:"changed_since_review,omitempty"`
}

func newAppJSON(base string, l *apps.Listed) appJSON {
	f := &l.Version.Fields
	out := appJSON{
		ID: l.ID.String(), Slug: l.Slug, Name: f.Name, Summary: f.Summary, Description: f.Description, Kinds: f.Kinds,
		WidgetURL: orNull(f.WidgetURL), WebsiteURL: orNull(f.WebsiteURL), PrivacyURL: orNull(f.PrivacyURL),
		Domains: orEmptyList(f.Domains), ConfigSchema: apps.SchemaJSON(f.ConfigSchema), Cost: appCostJSON(f.Cost),
		Developer: l.Developer, Version: l.Version.Number, UpdatedAt: httpapi.Timestamp(l.Version.SubmittedAt), Development: l.Dev, Changed: l.Changed,
		Sources: []mapdata.SourceID{}, IconURL: iconURL(base, l.App, f.Icon),
	}
	if !l.Version.DecidedAt.IsZero() {
		out.UpdatedAt = httpapi.Timestamp(l.Version.DecidedAt)
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
func iconURL(base string, app *mapdata.App, name string) *string {
	if name == "" {
		return nil
	}
	return orNull(base + apps.IconPath(app.ID, name))
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
	Number       int                `json:"number"`
	State        mapdata.AppState   `json:"state"`
	ReviewNote   *string            `json:"review_note"`
	SubmittedAt  httpapi.Timestamp  `json:"submitted_at"`
	DecidedAt    httpapi.Timestamp  `json:"decided_at"`
	Report       json.RawMessage    `json:"report"`
	Name         string             `json:"name"`
	Summary      string             `json:"summary"`
	Description  string             `json:"description"`
	Kinds        []mapdata.AppKind  `json:"kinds"`
	FeedIDs      []string           `json:"feed_ids"`
	WidgetURL    *string            `json:"widget_url"`
	WebsiteURL   *string            `json:"website_url"`
	PrivacyURL   *string            `json:"privacy_url"`
	IconURL      *string            `json:"icon_url"`
	Domains      []string           `json:"domains"`
	ConfigSchema json.RawMessage    `json:"config_schema"`
	Cost         appCostJSON        `json:"cost"`
	Changelog    string             `json:"changelog"`
	PageChanged  *httpapi.Timestamp `json:"page_changed_at"` // null: it did not change since the approval
}

func newAppVersionJSON(base string, app *mapdata.App, v *mapdata.AppVersion) appVersionJSON {
	f := &v.Fields
	out := appVersionJSON{
		Number: v.Number, State: v.State, ReviewNote: orNull(v.Note), SubmittedAt: httpapi.Timestamp(v.SubmittedAt), DecidedAt: httpapi.Timestamp(v.DecidedAt),
		Report: json.RawMessage("null"), IconURL: iconURL(base, app, f.Icon), Name: f.Name, Summary: f.Summary, Description: f.Description, Kinds: f.Kinds,
		FeedIDs: orEmptyList(f.FeedIDs), WidgetURL: orNull(f.WidgetURL), WebsiteURL: orNull(f.WebsiteURL), PrivacyURL: orNull(f.PrivacyURL),
		Domains: orEmptyList(f.Domains), ConfigSchema: apps.SchemaJSON(f.ConfigSchema), Cost: appCostJSON(f.Cost), Changelog: f.Changelog,
	}
	if at := v.Page.ChangedAt; !at.IsZero() {
		changed := httpapi.Timestamp(at)
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
func (a *api) getApps(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
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
	h.Set("Cache-Control", httpapi.CacheListing)
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
		list[i] = newAppJSON(a.BaseURL, l)
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
	p, err := httpapi.ParseParams(r)
	if err != nil {
		return nil, 0, err
	}
	text, _ := p.Value("kinds")
	ids, _ := p.List("kinds", text)
	for _, id := range ids {
		k := slices.Index(appKinds(), mapdata.AppKind(id))
		if k < 0 {
			p.AddError("kinds", "unknown_kind", "must be pins, custom_layer, widget or notifications")
			p.Problem.ValidIDs = []string{"pins", "custom_layer", "widget", "notifications"}
			continue
		}
		mask |= 1 << k
	}
	if p.Problem != nil {
		return nil, 0, p.Problem
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
func (a *api) getApp(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	l, err := a.Apps.App(id)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", httpapi.CacheListing)
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"app": newAppJSON(a.BaseURL, l)})
}

// iconPolicy keeps a browser that opens an icon from loading or running anything.
const iconPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

// getAppIcon answers GET /v2/apps/{id}/icons/{file} with an icon as this service encoded it. Its name is a hash of it, so that it
// never changes. An icon of the catalogue is in memory, and public; another one is for the app's owner and curators, and counts as
// their other requests.
func (a *api) getAppIcon(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
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
func (a *api) otherAppIcon(r *http.Request, c *httpapi.Caller, id mapdata.AppID) (*mapdata.AppIcon, error) {
	if err := a.Identify(r, c, false); err != nil {
		return nil, err
	}
	if c.Account == nil {
		return nil, mapdata.ErrNotFound
	}
	if err := a.LimitAccount(c, ratelimit.Manage, a.Limits.Manage, "management requests of this account"); err != nil {
		return nil, err
	}
	return a.Apps.OtherIcon(r.Context(), mapdata.ActorOf(c.Account), id, r.PathValue("file"))
}

// postApp answers POST /v2/apps, a submission.
func (a *api) postApp(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	f, err := httpapi.ReadFieldsUpTo(w, r, maxSubmissionBytes)
	if err != nil {
		return err
	}
	app, err := a.Apps.Submit(r.Context(), mapdata.ActorOf(c.Account), f.Members)
	if err != nil {
		return err
	}
	v := &app.Versions[0]
	return httpapi.WriteJSON(w, r, http.StatusCreated, map[string]any{"app": newAppJSON(a.BaseURL, a.Apps.Describe(app, v)), "version": newAppVersionJSON(a.BaseURL, app, v)})
}

// postAppVersion answers POST /v2/apps/{id}/versions, a resubmission.
func (a *api) postAppVersion(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	f, err := httpapi.ReadFieldsUpTo(w, r, maxSubmissionBytes)
	if err != nil {
		return err
	}
	app, v, err := a.Apps.Resubmit(r.Context(), mapdata.ActorOf(c.Account), id, f.Members)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusCreated, map[string]any{"version": newAppVersionJSON(a.BaseURL, app, v)})
}

// getAppVersions answers GET /v2/apps/{id}/versions for the owner and curators, the newest first.
func (a *api) getAppVersions(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	app, err := a.Apps.Versions(r.Context(), mapdata.ActorOf(c.Account), id)
	if err != nil {
		return err
	}
	list := make([]appVersionJSON, 0, len(app.Versions))
	for _, v := range slices.Backward(app.Versions) {
		list = append(list, newAppVersionJSON(a.BaseURL, app, &v))
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"versions": list})
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
		return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"version": newAppVersionJSON(a.BaseURL, app, v)})
	}
}

// answerApp returns a function that writes the answer to a decision on an app.
func (a *api) answerApp(w http.ResponseWriter, r *http.Request) func(*mapdata.App, error) error {
	return func(app *mapdata.App, err error) error {
		if err != nil {
			return err
		}
		return httpapi.WriteJSON(w, r, http.StatusOK, map[string]any{"app": newAppJSON(a.BaseURL, a.Apps.Describe(app, apps.Latest(app)))})
	}
}

// postAppWithdraw answers POST /v2/apps/{id}/versions/{n}/withdraw.
func (a *api) postAppWithdraw(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Withdraw(r.Context(), mapdata.ActorOf(c.Account), id, number))
}

// postAppApprove answers POST /v2/apps/{id}/versions/{n}/approve. Curators only.
func (a *api) postAppApprove(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Approve(r.Context(), mapdata.ActorOf(c.Account), id, number))
}

// readNote reads the body of a decision that requires a note, and checks that the curator may decide now.
func (a *api) readNote(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) (string, error) {
	f, err := httpapi.ReadFields(w, r)
	if err != nil {
		return "", err
	}
	note := f.Required("note")
	if err := f.Check(); err != nil {
		return "", err
	}
	return note, a.Passkeys.AllowDecision(r.Context(), c.Session)
}

// postAppReject answers POST /v2/apps/{id}/versions/{n}/reject. Curators only.
func (a *api) postAppReject(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, number, err := appVersion(r)
	if err != nil {
		return err
	}
	note, err := a.readNote(w, r, c)
	if err != nil {
		return err
	}
	return a.answerVersion(w, r)(a.Apps.Reject(r.Context(), mapdata.ActorOf(c.Account), id, number, note))
}

// postAppSuspend answers POST /v2/apps/{id}/suspend. Curators only.
func (a *api) postAppSuspend(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	note, err := a.readNote(w, r, c)
	if err != nil {
		return err
	}
	return a.answerApp(w, r)(a.Apps.Suspend(r.Context(), mapdata.ActorOf(c.Account), id, note))
}

// postAppResume answers POST /v2/apps/{id}/resume. Curators only.
func (a *api) postAppResume(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	if err := a.Passkeys.AllowDecision(r.Context(), c.Session); err != nil {
		return err
	}
	return a.answerApp(w, r)(a.Apps.Resume(r.Context(), mapdata.ActorOf(c.Account), id))
}
