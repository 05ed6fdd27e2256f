package mapdata

import (
	"time"

	"github.com/google/uuid"
)

// AppID identifies an app: a UUIDv7 (D16.1).
type AppID uuid.UUID

// NewAppID makes a new id. It fails only if the system's random source does.
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

// AppKind is what an app adds (D16.1).
type AppKind string

// The kinds of apps. Pins and layers are feeds that the catalogue shows; widgets and notifications are web pages of the
// developer's beside the map.
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

// ConfigField is a field of an app's config: what a driver may set, and in which bounds. nil: not given.
type ConfigField struct {
	Key       string
	Label     string
	Type      ConfigType
	Required  bool
	Default   any // string, float64 or bool, as a config has it
	Help      string
	Secret    bool // of texts: shown as dots, sealed in the store
	Options   []string
	Min       *float64
	Max       *float64
	Step      *float64 // of the form's control; values between steps are valid
	MaxLength *int
}

// ConfigSchema lists the fields of an app's config.
type ConfigSchema []ConfigField

// AppConfig is what a driver set: strings, float64s and bools by key.
type AppConfig map[string]any

// AppCost discloses what an app costs; nothing is paid here (D16.3).
type AppCost struct {
	Model string
	Note  string
}

// AppFields are what a developer submits as a version of an app (D16.1).
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
	Report      string // what the app bench saw, as JSON; empty: none was attached
	Note        string // of the curator
	SubmittedAt time.Time
	DecidedAt   time.Time // zero: not yet
	Page        AppPage
}

// AppPage is what is known of the page of a version since it was approved.
type AppPage struct {
	Digest    string    // of what the curator approved; empty: not known
	ChangedAt time.Time // when it was first seen to be another one; zero: it is as it was
}

// App is an app with its versions.
type App struct {
	ID        AppID
	Slug      string
	Owner     AccountID // zero: the account is gone, and the app is suspended
	OwnerName string    // the owner's public name; empty: there is none
	CreatedAt time.Time
	UpdatedAt time.Time

	SuspendedAt   time.Time // zero: it is not
	SuspendedNote string

	Versions []AppVersion // the oldest first
	NewIcon  *AppIcon     // to be stored with the app; nil: none. It is not read
}

// Version is the version in a state that at most one has, pending or approved; nil: there is none.
func (a *App) Version(state AppState) *AppVersion {
	for i := range a.Versions {
		if a.Versions[i].State == state {
			return &a.Versions[i]
		}
	}
	return nil
}

// Served says whether the app is in the catalogue and in cars.
func (a *App) Served() bool {
	return a.SuspendedAt.IsZero() && !a.Owner.IsZero() && a.Version(AppApproved) != nil
}

// IsZero says whether the id is unset.
func (id AppID) IsZero() bool { return id == AppID{} }

// AppInstall is an app that a driver installed.
type AppInstall struct {
	Account     AccountID
	App         AppID
	Config      []byte // sealed: it may hold secrets
	Hidden      bool
	InstalledAt time.Time
}

// AppIcon is an icon as it is served.
type AppIcon struct {
	Name  string // made of the image's hash; it ends in .png or .svg
	Image []byte
}

// AppLimits bound what developers store of apps.
type AppLimits struct {
	PerOwner        int // apps of an account
	Waiting         int // versions of all accounts that wait for curators
	WaitingPerOwner int // of them, those of an account
}

// ServedApp is an app of the catalogue, as of its revision.
type ServedApp struct {
	ID       AppID
	Revision int64 // grows with each change of what is served of the app
	App      *App  // with the approved version alone; nil: its revision is known
}
