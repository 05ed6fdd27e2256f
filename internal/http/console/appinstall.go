package console

import (
	"errors"
	"net/http"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
	"wayside/internal/people/apps"
)

// installedLine is an app that the visitor installed, on the account's page.
type installedLine struct {
	appLine
	Settings string
	Served   bool
	Hidden   bool
}

// installedLines lists the apps that the visitor installed; nil: none, or apps are not enabled.
func (c *Console) installedLines(r *http.Request, v *Visitor) ([]installedLine, error) {
	if c.Apps == nil {
		return nil, nil
	}
	all, err := c.Apps.Installed(r.Context(), v.ID())
	if err != nil {
		return nil, err
	}
	lines := make([]installedLine, len(all))
	for i := range all {
		lines[i] = installedLine{newAppLine(all[i].Listed, appURL(all[i].App)), installedAppURL(all[i].ID), all[i].Served, all[i].Hidden}
	}
	return lines, nil
}

// installed finds an app among those that the visitor installed, or fails with mapdata.ErrNotFound.
func (c *Console) installed(r *http.Request, v *Visitor, id mapdata.AppID) (*apps.Installed, error) {
	all, err := c.Apps.Installed(r.Context(), v.ID())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, mapdata.ErrNotFound
}

// installPage installs an app, or changes its settings.
type installPage struct {
	appLine
	Form      *Form
	Inputs    []configInput
	Settings  string
	Installed bool
	Served    bool
	Hidden    bool
	Refused   string // why it was not installed although no field is wrong; empty: nothing was refused
}

// Framed reports whether the app is a web page beside the map.
func (p *installPage) Framed() bool { return apps.Framed(p.Version.Fields.Kinds) }

// newInstallPage describes the app of the path, with the visitor's settings if it is installed.
func (c *Console) newInstallPage(r *http.Request, v *Visitor, form *Form) (*installPage, error) {
	id, err := appID(r)
	if err != nil {
		return nil, err
	}
	page := &installPage{Form: form, Settings: installedAppURL(id)}
	installed, err := c.installed(r, v, id)
	var config mapdata.AppConfig
	switch {
	case err == nil:
		page.appLine, config = newAppLine(installed.Listed, appURL(installed.App)), installed.Config
		page.Installed, page.Served, page.Hidden = true, installed.Served, installed.Hidden
	case errors.Is(err, mapdata.ErrNotFound):
		listed, err := c.Apps.App(id)
		if err != nil {
			return nil, err
		}
		page.appLine, page.Served = newAppLine(listed, appURL(listed.App)), true
	default:
		return nil, err
	}
	page.Inputs = configInputs(v.Words, page.Version.Fields.ConfigSchema, config, page.Installed, form)
	return page, nil
}

// getInstalledApp answers GET /account/apps/{id}: the form that installs an app, which changes nothing by itself.
func (c *Console) getInstalledApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page, err := c.newInstallPage(r, v, newForm(nil))
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "app-install", Data: page})
}

// postInstalledApp installs an app, or stores its settings.
func (c *Console) postInstalledApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	page, err := c.newInstallPage(r, v, form)
	if err != nil {
		return err
	}
	_, err = c.Apps.Configure(r.Context(), v.ID(), page.ID, apps.Change{Config: configOf(page.Version.Fields.ConfigSchema, form)})
	status, done := http.StatusUnprocessableEntity, "app-installed"
	switch {
	case err == nil:
		if page.Installed {
			done = "app-configured"
		}
		return seeOther(w, page.Settings+"?done="+done)
	case errors.Is(err, mapdata.ErrConflict):
		status, page.Refused = http.StatusConflict, v.Words.Text("app.install.too-many")
	case !form.addConfigErrors(v.Words, err):
		return err
	}
	for i := range page.Inputs {
		page.Inputs[i].Wrong = form.Of(page.Inputs[i].Name)
	}
	return c.show(w, r, v, &Page{Name: "app-install", Status: status, Data: page})
}

// addConfigErrors adds the errors of a config beside its inputs. It returns false if the error is of another kind.
func (f *Form) addConfigErrors(w *words.Words, err error) bool {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return false
	}
	for _, e := range invalid.Fields {
		text := w.Text(w.First("wrong.config."+e.Code, "wrong.other"))
		if !strings.HasPrefix(e.Field, "config.") {
			text = w.Text("wrong.config.whole")
		}
		f.addError(e.Field, text)
	}
	return true
}

// postShowApp shows or hides an app beside the map.
func (c *Console) postShowApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	hidden, done := form.raw("hidden") == "yes", "app-shown"
	if hidden {
		done = "app-hidden"
	}
	if _, err := c.Apps.Configure(r.Context(), v.ID(), id, apps.Change{Hidden: &hidden}); err != nil {
		return err
	}
	return seeOther(w, installedAppURL(id)+"?done="+done)
}

// getUninstallApp asks for confirmation, because the settings are deleted with the app.
func (c *Console) getUninstallApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	page, err := c.newInstallPage(r, v, newForm(nil))
	if err == nil && !page.Installed {
		err = mapdata.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.show(w, r, v, &Page{Name: "app-uninstall", Data: page})
}

func (c *Console) postUninstallApp(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	id, err := appID(r)
	if err != nil {
		return err
	}
	if err := c.Apps.Uninstall(r.Context(), v.ID(), id); err != nil {
		return err
	}
	return seeOther(w, accountPath+"?done=app-uninstalled#apps")
}
