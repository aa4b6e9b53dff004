package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/session/archive"
)

// efforts are those that a server may know, in ascending order; the empty one is the
// configured one, or the model's own.
var efforts = []string{"", "none", "minimal", "low", "medium", "high", "xhigh", "max"}

// usual are the efforts that NextEffort chooses from. Most models know them.
var usual = []string{"", "low", "medium", "high"}

// DefaultEffort is the user's word for the empty effort.
const DefaultEffort = "default"

// UsualEfforts lists the efforts that most models know, by their names for people.
func UsualEfforts() []string { return append([]string{DefaultEffort}, usual[1:]...) }

// ParseEffort returns the effort with the given name.
func ParseEffort(name string) (string, error) {
	effort := strings.ToLower(name)
	if effort == DefaultEffort {
		return "", nil
	}
	if effort == "" || !slices.Contains(efforts, effort) {
		return "", fmt.Errorf("there is no effort %q: choose %s or %s", name, strings.Join(efforts[1:], ", "), DefaultEffort)
	}
	return effort, nil
}

// Effort returns how much the model thinks, as chosen in this session; empty for the
// default.
func (a *App) Effort() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now.sends.Info().NoEffort {
		return ""
	}
	return a.now.efforts[a.now.model.Ref]
}

// SetEffort changes how much the model thinks, from the next prompt on. The session keeps
// it with the model.
func (a *App) SetEffort(effort string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now.sends.Info().NoEffort {
		return fmt.Errorf("%s has no effort to change: its server does not take one", a.now.model.Ref)
	}
	a.now.efforts[a.now.model.Ref] = effort
	return nil
}

// NextEffort changes to the next usual effort and returns it.
func (a *App) NextEffort() (string, error) {
	a.mu.Lock()
	now, configured := a.now.efforts[a.now.model.Ref], a.now.model.Options.Effort
	a.mu.Unlock()
	next := slices.Index(usual, now) + 1 // after an unusual one, the default
	if next < len(usual) && usual[next] == configured {
		next++
	}
	effort := usual[next%len(usual)]
	return effort, a.SetEffort(effort)
}

// recallEfforts takes the efforts from a session, unless it is new: that goes on with the
// present ones. The caller holds the lock.
func (a *App) recallEfforts(saved archive.Conversation) {
	if a.now.efforts == nil || len(saved.Entries) > 0 {
		a.now.efforts = map[string]string{}
		maps.Copy(a.now.efforts, saved.Efforts)
	}
}
