// Package imports lets admins import and remove regions while the service runs: a separate process imports extracts that
// lie in a folder of the data directory, one import at a time.
//
// The process runs the same program. It is separate for three reasons: it can be limited to spare processor time, so
// that readers do not notice it; its memory, up to 25 times the extract, is returned completely and is not part of the
// service's heap; and if memory is short, the operating system ends it and not the service. It gets no configuration and
// no secret, only the folder of regions.
package imports

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/region"
)

// Audit keeps the audit log.
type Audit interface {
	AddAudit(ctx context.Context, entries ...mapdata.AuditEntry) error
}

// Config configures a Service.
type Config struct {
	Folder   region.Folder
	Extracts string // folder of the extracts that can be imported
	// Command is the program that imports, with its first arguments. Flags and files are appended: see child.go.
	Command []string
	// Fixed means that the configuration names the region, so that an import would change nothing.
	Fixed bool
	// Memory returns how many bytes an import may take now, or 0 if that is unknown. It may be nil.
	Memory func() int64
	Audit  Audit
	Now    func() time.Time
	Log    *slog.Logger
}

// Service imports and removes regions. Its methods are safe for concurrent use.
type Service struct {
	Config
	work chan *Import // to Run

	mu   sync.Mutex
	last *Import // running, or the last one that ended; nil: none since the start
}

// Import is the state of one import.
type Import struct {
	Files   []string // names in the folder of extracts
	Without []string
	By      mapdata.AccountID
	Began   time.Time

	Step       string // current step; empty: not begun
	Number, Of int    // of steps
	Ended      time.Time
	Region     string // ID of the result; empty: none
	Problem    string // reason for the failure, in one line; empty: it is running, succeeded or was cancelled
	Cancelled  bool

	cancel context.CancelFunc
}

// Running reports whether the import is running.
func (i *Import) Running() bool { return i.Ended.IsZero() }

const (
	// maxFiles is the maximum number of extracts of one import.
	maxFiles = 16
	// growth is the maximum ratio of an import's memory to the size of its extracts.
	growth = 25
	// timeout ends an import that hangs. The largest extracts take some hours.
	timeout = 12 * time.Hour
)

// New returns a Service.
func New(c Config) *Service { return &Service{Config: c, work: make(chan *Import, 1)} }

// Run runs imports until ctx ends, which also ends the running import.
func (s *Service) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case i := <-s.work:
			s.run(ctx, i)
		}
	}
}

// Last returns the running import, or the last one that ended, or nil if there was none since the start.
func (s *Service) Last() *Import {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil
	}
	copied := *s.last
	return &copied
}

// List lists all regions of the folder, the newest import first.
func (s *Service) List(ctx context.Context) ([]region.Listed, error) { return s.Folder.List(ctx) }

// Start begins to import files of the folder of extracts. It returns mapdata.ErrForbidden if the account is not an
// admin, a *mapdata.InvalidError for files and products that do not exist, and mapdata.ErrConflict while another import
// is running or if an import would change nothing.
func (s *Service) Start(ctx context.Context, by *mapdata.Account, files, without []string) error {
	if err := s.allow(by); err != nil {
		return err
	}
	if s.Fixed {
		return mapdata.Explain(mapdata.ErrConflict, "region_fixed", "navigation.region names the region, so that an import would change nothing: the operator has to change the configuration.")
	}
	if err := s.check(files, without); err != nil {
		return err
	}
	next := &Import{Files: slices.Clone(files), Without: slices.Clone(without), By: by.ID, Began: s.Now()}
	s.mu.Lock()
	if s.last != nil && s.last.Running() {
		s.mu.Unlock()
		return mapdata.Explain(mapdata.ErrConflict, "import_running", "Another import is under way: wait until it ends, or cancel it.")
	}
	before := s.last
	s.last = next
	s.mu.Unlock()
	note := strings.Join(files, ", ")
	if len(without) > 0 {
		note += " (without " + strings.Join(without, ", ") + ")"
	}
	if err := s.audit(ctx, by, mapdata.AuditRegionImport, "", note); err != nil {
		s.mu.Lock()
		s.last = before
		s.mu.Unlock()
		return err
	}
	s.work <- next // does not block: the channel has room for the one import that may run
	return nil
}

// check refuses files that cannot be imported, and lists all problems.
func (s *Service) check(files, without []string) error {
	invalid := new(mapdata.InvalidError)
	add := func(field, code, message string) {
		invalid.Fields = append(invalid.Fields, mapdata.FieldError{Field: field, Code: code, Message: message})
	}
	var bytes int64
	switch {
	case len(files) == 0:
		add("files", "required", "must name a file of the folder of extracts")
	case len(files) > maxFiles:
		add("files", "too_many", fmt.Sprintf("must be at most %d", maxFiles))
	default:
		for _, name := range files {
			e, err := s.extract(name)
			if err != nil {
				add("files", "unknown_file", "must be names of extracts (….pbf) that lie in the folder of extracts itself")
				break
			}
			bytes += e.Bytes
		}
	}
	if err := region.CheckProducts(without); err != nil {
		add("without", "unknown_product", "must be of "+strings.Join(region.ProductNames(), ", "))
	}
	if s.Memory != nil && len(invalid.Fields) == 0 {
		if free := s.Memory(); free > 0 && growth*bytes > free {
			add("files", "too_large", fmt.Sprintf("may need %d MB of memory, and %d MB are free: import them on another machine and copy the region file",
				growth*bytes/1e6, free/1e6))
		}
	}
	if len(invalid.Fields) > 0 {
		return invalid
	}
	return nil
}

// Cancel ends the running import. The previous region stays. It returns mapdata.ErrConflict if no import is running.
func (s *Service) Cancel(ctx context.Context, by *mapdata.Account) error {
	if err := s.allow(by); err != nil {
		return err
	}
	s.mu.Lock()
	running := s.last != nil && s.last.Running() && !s.last.Cancelled
	if running {
		s.last.Cancelled = true
		if s.last.cancel != nil {
			s.last.cancel()
		}
	}
	s.mu.Unlock()
	if !running {
		return mapdata.Explain(mapdata.ErrConflict, "no_import", "No import is under way.")
	}
	return s.audit(ctx, by, mapdata.AuditRegionCancel, "", "")
}

// Remove removes a region. It returns mapdata.ErrNotFound if there is none, and mapdata.ErrConflict while an import is
// running.
func (s *Service) Remove(ctx context.Context, by *mapdata.Account, id string) error {
	if err := s.allow(by); err != nil {
		return err
	}
	if !region.ValidID(id) {
		return mapdata.ErrNotFound
	}
	switch _, err := s.Folder.Remove(id); {
	case errors.Is(err, region.ErrUnknown):
		return mapdata.Describe(mapdata.ErrNotFound, "There is no such region.")
	case errors.Is(err, region.ErrBusy):
		return mapdata.Explain(mapdata.ErrConflict, "import_running", "Another import is under way: wait until it ends, or cancel it.")
	case err != nil:
		return fmt.Errorf("remove region: %w", err)
	}
	return s.audit(ctx, by, mapdata.AuditRegionRemove, id, "")
}

func (s *Service) allow(by *mapdata.Account) error {
	if by == nil || by.Role != mapdata.Admin {
		return mapdata.Describe(mapdata.ErrForbidden, "Only admins import and remove regions.")
	}
	return nil
}

func (s *Service) audit(ctx context.Context, by *mapdata.Account, action, subject, note string) error {
	err := s.Audit.AddAudit(ctx, mapdata.AuditEntry{At: s.Now(), Actor: by.ID, Via: mapdata.ViaOf(ctx), Action: action, Subject: subject, Note: note})
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}
