package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// DialectsFile is the name of the file in the agent's own folder.
const DialectsFile = "dialects.json"

// saveTime bounds the wait for other processes that are saving.
const saveTime = time.Second

// Dialect holds the changes to requests that a server's refusals taught, for one model.
type Dialect struct {
	BaseURL string   `json:"base_url"`
	Model   string   `json:"model"`
	Wire    string   `json:"wire,omitzero"` // see config.Model.Wire; empty: chat completions
	Learned []string `json:"learned"`       // in words of the wire's protocol
}

// same reports whether d and e are of one server, model and wire.
func (d Dialect) same(e Dialect) bool {
	return d.BaseURL == e.BaseURL && d.Model == e.Model && d.Wire == e.Wire
}

// dialectAge is how long a Dialect is used: servers change, and one learned by mistake
// should not stay. To learn it again costs a request or two.
const dialectAge = 30 * 24 * time.Hour

// storedDialect is a Dialect in the file.
type storedDialect struct {
	Dialect
	At time.Time `json:"at"`
}

// expired reports whether d is no longer used.
func (d storedDialect) expired() bool { return time.Since(d.At) > dialectAge }

// Dialects stores each Dialect in the agent's own folder.
type Dialects struct{ home string }

// OpenDialects returns the Dialects in the agent's own folder, without reading them.
func OpenDialects(home string) Dialects { return Dialects{home} }

func (s Dialects) file() statefile.List[storedDialect] {
	return statefile.List[storedDialect]{
		JSON: statefile.JSON[[]storedDialect]{Path: filepath.Join(s.home, DialectsFile)},
		Compare: func(a, b storedDialect) int {
			return cmp.Or(cmp.Compare(a.BaseURL, b.BaseURL), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Wire, b.Wire))
		},
	}
}

// List returns the dialects in use, sorted.
func (s Dialects) List() ([]Dialect, error) {
	all, err := s.file().Read()
	if errors.Is(err, statefile.ErrMalformed) {
		return nil, fmt.Errorf("%s: %w", s.file().Path, err)
	}
	var used []Dialect
	for _, d := range all {
		if !d.expired() {
			used = append(used, d.Dialect)
		}
	}
	return used, err
}

// Forget deletes all dialects. It returns their number.
func (s Dialects) Forget() (int, error) {
	all, err := s.file().Read()
	if err != nil && !errors.Is(err, statefile.ErrMalformed) {
		return 0, err
	}
	return len(all), statefile.Remove(s.file().Path)
}

// find returns the stored dialect for a model; one without changes if the file cannot be
// read: they can be learned again.
func (s Dialects) find(m config.Model) Dialect {
	d := Dialect{BaseURL: remote.Shown(m.Endpoint.BaseURL), Model: m.Name}
	if wire := m.Wire(); wire != config.WireChat {
		d.Wire = wire
	}
	all, err := s.file().Read()
	if err != nil {
		return d
	}
	for _, stored := range all {
		if stored.same(d) && !stored.expired() {
			return stored.Dialect
		}
	}
	return d
}

// save stores d in the place of an earlier one of its server, model and wire.
func (s Dialects) save(ctx context.Context, d Dialect) error {
	if s.home == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	return s.file().Put(ctx, storedDialect{d, time.Now()}, func(old storedDialect) bool { return old.same(d) || old.expired() })
}

// learner is a protocol that learns from refusals.
type learner interface {
	Learned() []string // the changes to requests, in words for people and for its options
	NoEffort() bool    // whether the model is known to take no effort
}

// memory stores the changes that a protocol learns.
type memory struct {
	store    Dialects
	protocol learner

	mu   sync.Mutex
	last Dialect // as stored
}

// update stores new changes. It is called after an answer, so that only changes that
// led to one are stored.
func (m *memory) update(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	learned := m.protocol.Learned()
	if slices.Equal(learned, m.last.Learned) {
		return
	}
	d := m.last
	d.Learned = learned
	if m.store.save(ctx, d) == nil { // else the next answer tries again
		m.last = d
	}
}
