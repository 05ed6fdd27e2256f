package mapdata

import (
	"time"

	"github.com/google/uuid"
)

// AppID identifies an app: a UUIDv7 (D16.1).
type AppID uuid.UUID

// NewAppID returns a new id. It fails only if the system's random source does.
func NewAppID() (AppID, error) {
	id, err := uuid.NewV7()
	return AppID(id), err
}

// ParseAppID parses the canonical form: 36 characters, lower case.
func ParseAppID(s string) (AppID, bool) {
	id, ok := parseUUID(s)
	return AppID(id), ok
}

func (id AppID) String() string { return uuid.UUID(id).String() }

// AppKind is the kind of an app's contribution to the map (D16.1).
type AppKind string

// The kinds of apps. Pins and layers are feeds that the catalogue shows; widgets and notifications are web pages of the
// developer beside the map.
const (
	AppPins          AppKind = "pins"
	AppCustomLayer   AppKind = "custom_layer"
	AppWidget        AppKind = "widget"
	AppNotifications AppKind = "notifications"
)

// ConfigType is the type of a field of an app's config.
type ConfigType string

// The types of fields (D16.4).
const (
	ConfigText    ConfigType = "text"
	ConfigNumber  ConfigType = "number"
	ConfigBoolean ConfigType = "boolean"
	ConfigSelect  ConfigType = "select"
	ConfigURL     ConfigType = "url"
)

// ConfigField is a field of an app's config: a value that a driver may set, and its bounds. A nil bound is absent.
type ConfigField struct {
	Key       string
	Label     string
	Type      ConfigType
	Required  bool
	Default   any // string, float64 or bool, as a config has it
	Help      string
	Secret    bool // of texts: masked in the form, sealed in the store
	Options   []string
	Min       *float64
	Max       *float64
	Step      *float64 // of the form's control; values between steps are valid
	MaxLength *int
}

// ConfigSchema lists the fields of an app's config.
type ConfigSchema []ConfigField

// AppConfig is a driver's settings of an app: strings, float64s and bools by key.
type AppConfig map[string]any

// AppCost discloses the price of an app; it is not paid through the service (D16.3).
type AppCost struct {
	Model string
	Note  string
}

// AppFields are the fields that a developer submits as a version of an app (D16.1).
type AppFields struct {
	Name         string
	Summary      string
	Description  string
	Kinds        []AppKind
	FeedIDs      []string
	WidgetURL    string
	WebsiteURL   string
	PrivacyURL   string
	Domains      []string
	ConfigSchema ConfigSchema
	Cost         AppCost
	Changelog    string
	Icon         string // name of the icon as it is served
}

// AppState is the state of a version (D16.7).
type AppState string

// The states of a version.
const (
	AppPending    AppState = "pending"
	AppApproved   AppState = "approved"
	AppSuperseded AppState = "superseded" // by a version that was approved later
	AppRejected   AppState = "rejected"
	AppWithdrawn  AppState = "withdrawn"
)

// AppVersion is a version of an app.
type AppVersion struct {
	Number      int // from 1
	State       AppState
	Fields      AppFields
	Report      string // result of the app bench, as JSON; empty: none was attached
	Note        string // of the curator
	SubmittedAt time.Time
	DecidedAt   time.Time // zero: not decided yet
	Page        AppPage
}

// AppPage is the state of a version's page since its approval.
type AppPage struct {
	Digest    string    // of the page that the curator approved; empty: not known
	ChangedAt time.Time // when a different page was first seen; zero: unchanged
}

// App is an app with its versions.
type App struct {
	ID        AppID
	Slug      string
	Owner     AccountID // zero: the account was deleted, and the app is suspended
	OwnerName string    // the owner's public name; empty: none
	CreatedAt time.Time
	UpdatedAt time.Time

	SuspendedAt   time.Time // zero: not suspended
	SuspendedNote string

	Versions []AppVersion // the oldest first
	NewIcon  *AppIcon     // stored together with the app; nil: none. Reads leave it nil
}

// Version returns the version in the given state, pending or approved, of which an app has at most one, or nil if there
// is none.
func (a *App) Version(state AppState) *AppVersion {
	for i := range a.Versions {
		if a.Versions[i].State == state {
			return &a.Versions[i]
		}
	}
	return nil
}

// Served reports whether the app is in the catalogue and in cars.
func (a *App) Served() bool {
	return a.SuspendedAt.IsZero() && !a.Owner.IsZero() && a.Version(AppApproved) != nil
}

// IsZero reports whether the id is unset.
func (id AppID) IsZero() bool { return id == AppID{} }

// AppInstall is an app that is installed for a driver.
type AppInstall struct {
	Account     AccountID
	App         AppID
	Config      []byte // sealed, because it may contain secrets
	Hidden      bool
	InstalledAt time.Time
}

// AppIcon is an icon as it is served.
type AppIcon struct {
	Name  string // derived from the image's hash; ends in .png or .svg
	Image []byte
}

// AppLimits bound the apps that developers may store.
type AppLimits struct {
	PerOwner        int // apps of an account
	Waiting         int // versions of all accounts that wait for curators
	WaitingPerOwner int // versions among them of one account
}

// ServedApp is an app of the catalogue, as of its revision.
type ServedApp struct {
	ID       AppID
	Revision int64 // increases with each change of the served content of the app
	App      *App  // with the approved version alone; nil: the caller knows this revision
}
