package storetest

import (
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

func appTests() map[string]func(*testStore) {
	return map[string]func(*testStore){
		"an app is stored with its versions":               storesApps,
		"the slug of an app is unique":                     namesApps,
		"an account has a limited number of apps":          boundsApps,
		"a limited number of apps waits":                   boundsWaitingApps,
		"submissions change nothing of the catalogue":      separatesSubmissions,
		"only apps that changed are read again":            readsChangedApps,
		"apps that were never served go with the account":  deletesUnservedApps,
		"an edit of an app stores what it changed":         editsApps,
		"icons go with their versions":                     keepsIcons,
		"a refused edit of an app changes nothing":         refusesAppEdits,
		"edits of one app wait for each other":             serializesAppEdits,
		"apps are listed by state":                         listsApps,
		"a driver installs apps, and uninstalls them":      installsApps,
		"an account installs a limited number of apps":     boundsInstalls,
		"apps of a suspended account are not served":       hidesAppsOfSuspended,
		"apps stay, and installs go, with their accounts":  endsApps,
		"the check of a page is claimed by one":            claimsAppPages,
		"what a check of a page saw is kept":               recordsAppPages,
		"the log says that what is served of apps changed": logsApps,
	}
}

// app creates an app of the owner with one pending version.
func (w *testStore) app(owner *mapdata.Account) *mapdata.App {
	w.Helper()
	w.made++
	id, err := mapdata.NewAppID()
	w.must(err)
	when, most := at(time.Duration(w.made)*time.Minute), 12.5
	return &mapdata.App{
		ID: id, Slug: fmt.Sprint("app-", w.made), Owner: owner.ID, CreatedAt: when, UpdatedAt: when,
		Versions: []mapdata.AppVersion{{Number: 1, State: mapdata.AppPending, SubmittedAt: when, Report: `{"version":1}`, Fields: mapdata.AppFields{
			Name: "Trip \u2028 \"log\"", Summary: "s", Kinds: []mapdata.AppKind{mapdata.AppWidget}, WidgetURL: "https://apps.example.org/",
			ConfigSchema: mapdata.ConfigSchema{{Key: "n", Label: "N", Type: mapdata.ConfigNumber, Default: 2.5, Max: &most}},
			Cost:         mapdata.AppCost{Model: "free"},
		}}},
	}
}

// appLimits returns a bound on the apps of an account; the other limits are far.
func appLimits(perOwner int) mapdata.AppLimits {
	return mapdata.AppLimits{PerOwner: perOwner, Waiting: 1000, WaitingPerOwner: 100}
}

func (w *testStore) createdApp(owner *mapdata.Account) *mapdata.App {
	w.Helper()
	a := w.app(owner)
	w.must(w.store.CreateApp(w.ctx, a, appLimits(10), mapdata.Side{}))
	return a
}

func (w *testStore) editApp(a *mapdata.App, change func(*mapdata.App)) *mapdata.App {
	w.Helper()
	stored, err := w.store.UpdateApp(w.ctx, a.ID, func(a *mapdata.App) (mapdata.Side, error) {
		change(a)
		return mapdata.Side{}, nil
	})
	w.must(err)
	return stored
}

// approve approves the only version of an app.
func (w *testStore) approve(a *mapdata.App) *mapdata.App {
	w.Helper()
	return w.editApp(a, func(a *mapdata.App) {
		a.Versions[0].State, a.Versions[0].DecidedAt = mapdata.AppApproved, at(time.Hour)
	})
}

func (w *testStore) readApp(id mapdata.AppID) *mapdata.App {
	w.Helper()
	a, err := w.store.App(w.ctx, id)
	w.must(err)
	return a
}

func (w *testStore) appRevision() int64 {
	w.Helper()
	revision, err := w.store.AppRevision(w.ctx)
	w.must(err)
	return revision
}

func storesApps(w *testStore) {
	owner := w.account()
	a := w.app(owner)
	side := mapdata.Side{Audit: []mapdata.AuditEntry{{At: start, Actor: owner.ID, Action: "app_submit", Subject: a.ID.String(), Owner: owner.ID}}}
	w.must(w.store.CreateApp(w.ctx, a, appLimits(10), side))
	w.same("app", w.readApp(a.ID), a)
	w.same("entries", len(w.audit(mapdata.AuditQuery{Limit: 10})), 1)
	none, err := mapdata.NewAppID()
	w.must(err)
	_, err = w.store.App(w.ctx, none)
	w.fails("an unknown app", err, mapdata.ErrNotFound)
}

func namesApps(w *testStore) {
	one, other := w.app(w.account()), w.app(w.account())
	one.Slug, other.Slug = "trip", "trip"
	w.must(w.store.CreateApp(w.ctx, one, appLimits(10), mapdata.Side{}))
	w.must(w.store.CreateApp(w.ctx, other, appLimits(10), mapdata.Side{}))
	if one.Slug != "trip" || len(other.Slug) != len("trip-abcdef") || w.readApp(other.ID).Slug != other.Slug {
		w.Errorf("slugs %q and %q", one.Slug, other.Slug)
	}
}

func boundsApps(w *testStore) {
	owner := w.account()
	for range 2 {
		w.must(w.store.CreateApp(w.ctx, w.app(owner), appLimits(2), mapdata.Side{}))
	}
	w.fails("a third of two", w.store.CreateApp(w.ctx, w.app(owner), appLimits(2), mapdata.Side{}), mapdata.ErrConflict)
	w.must(w.store.CreateApp(w.ctx, w.app(w.account()), appLimits(2), mapdata.Side{}))
	gone := w.account()
	w.must(w.deleteAccount(gone))
	w.fails("an owner who is gone", w.store.CreateApp(w.ctx, w.app(gone), appLimits(2), mapdata.Side{}), mapdata.ErrNotFound)
}

func editsApps(w *testStore) {
	a := w.createdApp(w.account())
	next := a.Versions[0]
	next.Number, next.SubmittedAt, next.Fields.Name = 2, at(time.Hour), "Trip 2"
	stored := w.editApp(a, func(a *mapdata.App) {
		a.UpdatedAt, a.SuspendedAt, a.SuspendedNote = at(time.Hour), at(2*time.Hour), "harmful"
		a.Versions[0].State, a.Versions[0].Note, a.Versions[0].DecidedAt = mapdata.AppWithdrawn, "replaced", at(time.Hour)
		a.Versions[0].Fields.Name = "changed" // the submitted version stays unchanged
		a.Versions = append(a.Versions, next)
	})
	got := w.readApp(a.ID)
	w.same("name of what was submitted", got.Versions[0].Fields.Name, a.Versions[0].Fields.Name)
	stored.Versions[0].Fields.Name = got.Versions[0].Fields.Name
	w.same("app", got, stored)
	w.editApp(a, func(a *mapdata.App) { a.Versions = a.Versions[1:] })
	w.same("versions after one was forgotten", len(w.readApp(a.ID).Versions), 1)
}

func keepsIcons(w *testStore) {
	icons := func(a *mapdata.App) (names []string) {
		for _, name := range []string{"one.png", "two.svg"} {
			icon, err := w.store.AppIcon(w.ctx, a.ID, name)
			if err == nil {
				w.same("image", icon, &mapdata.AppIcon{Name: name, Image: []byte{0, 255, name[0]}})
				names = append(names, name)
			} else {
				w.fails("an icon that is gone", err, mapdata.ErrNotFound)
			}
		}
		return names
	}
	a := w.app(w.account())
	a.Versions[0].Fields.Icon = "one.png"
	a.NewIcon = &mapdata.AppIcon{Name: "one.png", Image: []byte{0, 255, 'o'}}
	w.must(w.store.CreateApp(w.ctx, a, appLimits(10), mapdata.Side{}))
	w.same("icons", icons(a), []string{"one.png"})
	w.editApp(a, func(a *mapdata.App) {
		next := a.Versions[0]
		next.Number, next.Fields.Icon = 2, "two.svg"
		a.Versions = append(a.Versions, next)
		a.NewIcon = &mapdata.AppIcon{Name: "two.svg", Image: []byte{0, 255, 't'}}
	})
	w.same("icons of two versions", icons(a), []string{"one.png", "two.svg"})
	w.editApp(a, func(a *mapdata.App) { a.Versions = a.Versions[1:] })
	w.same("icons after a version was forgotten", icons(a), []string{"two.svg"})
}

func refusesAppEdits(w *testStore) {
	a := w.createdApp(w.account())
	before := w.appRevision()
	refusal := mapdata.Describe(mapdata.ErrForbidden, "no")
	_, err := w.store.UpdateApp(w.ctx, a.ID, func(a *mapdata.App) (mapdata.Side, error) {
		a.SuspendedAt, a.Versions = start, nil
		return mapdata.Side{}, refusal
	})
	if err != refusal { //nolint:errorlint // the same error value
		w.Errorf("got %v", err)
	}
	w.same("app", w.readApp(a.ID), a)
	w.same("revision", w.appRevision(), before)
}

func serializesAppEdits(w *testStore) {
	a := w.createdApp(w.account())
	submit := func() error {
		_, err := w.store.UpdateApp(w.ctx, a.ID, func(a *mapdata.App) (mapdata.Side, error) {
			next := a.Versions[0]
			next.Number = len(a.Versions) + 1
			a.Versions = append(a.Versions, next)
			return mapdata.Side{}, nil
		})
		return err
	}
	for _, err := range w.concurrently(submit, submit) {
		w.must(err)
	}
	w.same("versions", len(w.readApp(a.ID).Versions), 3)
}

func listsApps(w *testStore) {
	owner := w.account()
	pending, served, suspended, orphan := w.createdApp(owner), w.createdApp(owner), w.createdApp(owner), w.createdApp(w.account())
	w.createdApp(w.account())
	for _, a := range []*mapdata.App{served, suspended, orphan} {
		w.approve(a)
	}
	w.editApp(suspended, func(a *mapdata.App) { a.SuspendedAt = start })
	w.must(w.deleteAccount(&mapdata.Account{ID: orphan.Owner}))
	ids := func(all []mapdata.App) (list []mapdata.AppID) {
		for i := range all {
			list = append(list, all[i].ID)
		}
		return list
	}
	listed, revision, err := w.store.ServedApps(w.ctx, nil)
	w.must(err)
	w.same("served apps", len(listed), 1)
	w.same("the served app", listed[0].ID, served.ID)
	w.same("revision of the served apps", revision, w.appRevision())
	all, err := w.store.AppsOf(w.ctx, owner.ID)
	w.must(err)
	w.same("apps of an owner", ids(all), []mapdata.AppID{pending.ID, served.ID, suspended.ID})
	for _, limit := range []int{1, 10} {
		all, count, err := w.store.PendingApps(w.ctx, limit)
		w.must(err)
		w.same("pending apps", count, 2)
		w.same("listed pending apps", len(all), min(limit, 2))
		w.same("longest waiting", all[0].ID, pending.ID)
	}
	all, err = w.store.SuspendedApps(w.ctx, 10)
	w.must(err)
	w.same("suspended apps", ids(all), []mapdata.AppID{suspended.ID})
	w.editApp(served, func(a *mapdata.App) {
		for number := 2; number <= 4; number++ {
			next := a.Versions[0]
			next.Number, next.State = number, mapdata.AppWithdrawn
			a.Versions = append(a.Versions, next)
		}
	})
	all, err = w.store.ListAppsOf(w.ctx, owner.ID)
	w.must(err)
	w.same("listed apps of an owner", ids(all), []mapdata.AppID{pending.ID, served.ID, suspended.ID})
	w.same("listed versions", len(all[1].Versions), 2)
	w.same("number of the newest", all[1].Versions[1].Number, 4)
	w.same("report in a list", all[1].Versions[0].Report, "")
}

// resubmit adds a version that waits.
func (w *testStore) resubmit(a *mapdata.App, limits mapdata.AppLimits) error {
	_, err := w.store.ResubmitApp(w.ctx, a.ID, limits, func(a *mapdata.App) (mapdata.Side, error) {
		next := a.Versions[len(a.Versions)-1]
		if waiting := a.Version(mapdata.AppPending); waiting != nil {
			waiting.State = mapdata.AppWithdrawn
		}
		next.Number, next.State = next.Number+1, mapdata.AppPending
		a.Versions = append(a.Versions, next)
		return mapdata.Side{}, nil
	})
	return err
}

func boundsWaitingApps(w *testStore) {
	owner, other := w.account(), w.account()
	limits := mapdata.AppLimits{PerOwner: 10, Waiting: 3, WaitingPerOwner: 2}
	submit := func(by *mapdata.Account) (*mapdata.App, error) {
		a := w.app(by)
		return a, w.store.CreateApp(w.ctx, a, limits, mapdata.Side{})
	}
	submitted := func(by *mapdata.Account) *mapdata.App {
		w.Helper()
		a, err := submit(by)
		w.must(err)
		return a
	}
	first := submitted(owner)
	submitted(owner)
	_, err := submit(owner)
	w.fails("a third of two of an account", err, mapdata.ErrConflict)
	w.fails("the check for it", w.store.CheckWaitingApps(w.ctx, owner.ID, limits), mapdata.ErrConflict)
	w.must(w.resubmit(first, limits)) // in place of the one that waits
	submitted(other)
	_, err = submit(other)
	w.fails("a fourth of three of all accounts", err, mapdata.ErrUnavailable)
	w.fails("the check for it", w.store.CheckWaitingApps(w.ctx, other.ID, limits), mapdata.ErrUnavailable)
	w.editApp(first, func(a *mapdata.App) { a.Version(mapdata.AppPending).State = mapdata.AppRejected })
	w.must(w.store.CheckWaitingApps(w.ctx, other.ID, limits))
	submitted(other)
	w.fails("another version of an app that does not wait", w.resubmit(first, limits), mapdata.ErrUnavailable)
	w.same("versions", len(w.readApp(first.ID).Versions), 2)
	w.must(w.deleteAccount(other)) // its apps no longer wait
	w.must(w.resubmit(first, limits))
}

func separatesSubmissions(w *testStore) {
	owner := w.account()
	before := w.appRevision()
	changes := func(what string, want bool) {
		w.Helper()
		if after := w.appRevision(); after > before != want {
			w.Errorf("%s: the revision is %d after %d", what, after, before)
		}
		before = w.appRevision()
	}
	a := w.createdApp(owner)
	changes("a submission", false)
	w.approve(a)
	changes("an approval", true)
	w.must(w.resubmit(a, appLimits(10)))
	changes("a resubmission", false)
	w.editApp(a, func(a *mapdata.App) { a.Version(mapdata.AppPending).State = mapdata.AppRejected })
	changes("a rejection", false)
	w.editApp(a, func(a *mapdata.App) { a.SuspendedAt = start })
	changes("a suspension", true)
	w.editApp(a, func(a *mapdata.App) { a.SuspendedAt = time.Time{} })
	changes("a resumption", true)
	w.must(w.store.SetPublicName(w.ctx, owner.ID, "Charge & Co"))
	changes("a name of the developer", true)
	other := w.account()
	w.createdApp(other)
	w.must(w.store.SetPublicName(w.ctx, other.ID, "Nobody"))
	changes("a name of somebody of whom nothing is served", false)
	w.must(w.deleteAccount(other))
	changes("the end of that account", false)
}

func readsChangedApps(w *testStore) {
	owner := w.account()
	one, two := w.approve(w.createdApp(owner)), w.approve(w.createdApp(w.account()))
	known := make(map[mapdata.AppID]int64)
	read := func() (ids []mapdata.AppID, list int) {
		w.Helper()
		all, revision, err := w.store.ServedApps(w.ctx, known)
		w.must(err)
		w.same("revision", revision, w.appRevision())
		for _, a := range all {
			known[a.ID] = a.Revision
			if a.App != nil {
				w.same("served version", a.App.Version(mapdata.AppApproved).State, mapdata.AppApproved)
				ids = append(ids, a.ID)
			}
		}
		return ids, len(all)
	}
	expect := func(what string, list int, want ...mapdata.AppID) {
		w.Helper()
		ids, got := read()
		w.same(what+": apps", got, list)
		w.same(what+": apps that were read", ids, want)
	}
	expect("at first", 2, one.ID, two.ID)
	expect("unchanged", 2)
	w.must(w.resubmit(one, appLimits(10)))
	expect("a resubmission", 2)
	w.editApp(one, func(a *mapdata.App) {
		a.Version(mapdata.AppApproved).State, a.Version(mapdata.AppPending).State = mapdata.AppSuperseded, mapdata.AppApproved
	})
	expect("an approval", 2, one.ID)
	w.editApp(two, func(a *mapdata.App) { a.SuspendedAt = start })
	expect("a suspension", 1)
	w.must(w.store.SetPublicName(w.ctx, owner.ID, "Charge & Co"))
	expect("a name", 1, one.ID)
}

func deletesUnservedApps(w *testStore) {
	owner := w.account()
	never, served := w.createdApp(owner), w.approve(w.createdApp(owner))
	w.must(w.deleteAccount(owner))
	_, err := w.store.App(w.ctx, never.ID)
	w.fails("an app that was never served", err, mapdata.ErrNotFound)
	w.same("an app that was", w.readApp(served.ID).ID, served.ID)
}

func (w *testStore) installs(a *mapdata.Account) []mapdata.AppInstall {
	w.Helper()
	all, err := w.store.Installs(w.ctx, a.ID)
	w.must(err)
	return all
}

// setInstall replaces an account's config of an app.
func (w *testStore) setInstall(next *mapdata.AppInstall, limit int) error {
	w.Helper()
	stored, err := w.store.EditInstall(w.ctx, next.Account, next.App, limit, func(i *mapdata.AppInstall, installed bool) error {
		if !installed {
			i.InstalledAt = next.InstalledAt
		}
		i.Config, i.Hidden = next.Config, next.Hidden
		return nil
	})
	if err == nil {
		got, err := w.store.Install(w.ctx, next.Account, next.App)
		w.must(err)
		w.same("what an edit gives", got, *stored)
	}
	return err
}

func installsApps(w *testStore) {
	owner, driver := w.account(), w.account()
	one, other := w.approve(w.createdApp(owner)), w.approve(w.createdApp(owner))
	i := &mapdata.AppInstall{Account: driver.ID, App: one.ID, Config: []byte{0, 1, 0xff}, InstalledAt: at(time.Minute)}
	w.must(w.setInstall(i, 12))
	got, err := w.store.Install(w.ctx, driver.ID, one.ID)
	w.must(err)
	w.same("install", got, *i)
	again := *i
	again.Config, again.Hidden, again.InstalledAt = []byte("2"), true, at(time.Hour)
	w.must(w.setInstall(&again, 12))
	again.InstalledAt = i.InstalledAt
	w.must(w.setInstall(&mapdata.AppInstall{Account: driver.ID, App: other.ID, Config: []byte{7}, InstalledAt: at(2 * time.Minute)}, 12))
	all := w.installs(driver)
	w.same("installs", len(all), 2)
	w.same("install after a change", all[0], again)
	w.same("installs of another account", len(w.installs(owner)), 0)
	w.must(w.store.Uninstall(w.ctx, driver.ID, one.ID))
	w.fails("a second uninstall", w.store.Uninstall(w.ctx, driver.ID, one.ID), mapdata.ErrNotFound)
	_, err = w.store.Install(w.ctx, driver.ID, one.ID)
	w.fails("what was uninstalled", err, mapdata.ErrNotFound)
	w.same("installs after one was uninstalled", len(w.installs(driver)), 1)
}

func boundsInstalls(w *testStore) {
	owner, driver := w.account(), w.account()
	set := func(a *mapdata.App) error {
		return w.setInstall(&mapdata.AppInstall{Account: driver.ID, App: a.ID, Config: []byte{7}, InstalledAt: start}, 2)
	}
	first := w.createdApp(owner)
	w.must(set(first))
	w.must(set(w.createdApp(owner)))
	w.fails("a third of two", set(w.createdApp(owner)), mapdata.ErrConflict)
	w.must(set(first))
	none, err := mapdata.NewAppID()
	w.must(err)
	w.must(w.store.Uninstall(w.ctx, driver.ID, first.ID))
	w.fails("an app that is not there", set(&mapdata.App{ID: none}), mapdata.ErrNotFound)
	refusal := mapdata.Describe(mapdata.ErrForbidden, "no")
	_, err = w.store.EditInstall(w.ctx, driver.ID, first.ID, 2, func(i *mapdata.AppInstall, installed bool) error {
		if installed {
			w.Error("what was uninstalled is installed")
		}
		return refusal
	})
	if err != refusal { //nolint:errorlint // the same error value
		w.Errorf("got %v", err)
	}
	_, err = w.store.Install(w.ctx, driver.ID, first.ID)
	w.fails("an install that was refused", err, mapdata.ErrNotFound)
}

func endsApps(w *testStore) {
	owner, driver := w.account(), w.account()
	a := w.approve(w.createdApp(owner))
	w.must(w.setInstall(&mapdata.AppInstall{Account: driver.ID, App: a.ID, Config: []byte("s3cret"), InstalledAt: start}, 2))
	before := w.appRevision()
	w.must(w.deleteAccount(driver))
	w.same("installs of an account that is gone", len(w.installs(driver)), 0)
	w.must(w.deleteAccount(owner))
	got := w.readApp(a.ID)
	if !got.Owner.IsZero() || got.Served() {
		w.Errorf("the app of an account that is gone is %+v", got)
	}
	if w.appRevision() <= before {
		w.Error("the revision did not grow when the owner went")
	}
}

func hidesAppsOfSuspended(w *testStore) {
	owner := w.account()
	w.approve(w.createdApp(owner))
	served := func(want int) {
		w.Helper()
		all, revision, err := w.store.ServedApps(w.ctx, nil)
		w.must(err)
		w.same("served apps", len(all), want)
		w.same("revision", revision, w.appRevision())
	}
	before := w.appRevision()
	served(1)
	w.must(w.store.SuspendAccount(w.ctx, owner.ID, mapdata.Suspension{At: start, Reason: "r"}, mapdata.Side{}))
	served(0)
	if w.appRevision() <= before {
		w.Error("the revision did not grow when the owner was suspended")
	}
	before = w.appRevision()
	w.must(w.store.ResumeAccount(w.ctx, owner.ID, mapdata.Side{}))
	served(1)
	if w.appRevision() <= before {
		w.Error("the revision did not grow when the owner was resumed")
	}
}
