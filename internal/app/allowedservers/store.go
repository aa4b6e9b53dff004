package allowedservers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bb2d0cf4/agent/internal/peer"
	"github.com/bb2d0cf4/agent/internal/statefile"
)

// File is the name of the file in the agent's own folder.
const File = "servers.json"

// Entry is a server or proxy that a person allowed.
type Entry struct {
	Address string `json:"address"`
	// Provider is the provider whose key and headers are sent there, empty for a proxy.
	Provider string `json:"provider,omitzero"`
	// User runs the program at an address of this machine. It is empty for the agent's
	// own user and for the system.
	User peer.User `json:"user,omitzero"`
}

// String returns the entry as a line of a list.
func (e Entry) String() string {
	line := "server   " + e.Address + "  (for the provider " + e.Provider + ")"
	if e.Provider == "" {
		line = "proxy    " + e.Address
	}
	if e.User != "" {
		line += "  (run by " + name(e.User) + ")"
	}
	return line
}

// Is reports whether the entry is for an address, with or without a slash at its end.
func (e Entry) Is(address string) bool { return e.Address == plain(address) }

// Store holds the entries in the agent's own folder.
type Store struct{ home string }

// Open returns the Store in the agent's own folder, without reading it.
func Open(home string) Store { return Store{home} }

func (s Store) file() string { return filepath.Join(s.home, File) }

func (s Store) entries() statefile.JSON[[]Entry] { return statefile.JSON[[]Entry]{Path: s.file()} }

// List returns all entries, sorted.
func (s Store) List() ([]Entry, error) {
	all, err := s.entries().Read()
	return all, s.explain(err)
}

// explain adds the consequence to an error of the file.
func (s Store) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, statefile.ErrMalformed):
		return fmt.Errorf("%s: %w, so no server is allowed; delete it to be asked again", s.file(), err)
	}
	return fmt.Errorf("allowed servers: %w", err)
}

// Allow stores an entry, replacing the one for the same address and provider.
func (s Store) Allow(ctx context.Context, e Entry) error {
	return s.change(ctx, func(all []Entry) []Entry {
		all = slices.DeleteFunc(all, func(old Entry) bool { return old.Address == e.Address && old.Provider == e.Provider })
		return append(all, e)
	})
}

// Remove deletes an address. It returns false if it had no entry.
func (s Store) Remove(ctx context.Context, address string) (was bool, err error) {
	err = s.change(ctx, func(all []Entry) []Entry {
		return slices.DeleteFunc(all, func(old Entry) bool {
			gone := old.Is(address)
			was = was || gone
			return gone
		})
	})
	return was, err
}

// change replaces the entries by those that f returns.
func (s Store) change(ctx context.Context, f func([]Entry) []Entry) error {
	return s.explain(s.entries().Change(ctx, func(all []Entry) []Entry {
		all = f(all)
		slices.SortFunc(all, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Provider, b.Provider))
		})
		return all
	}))
}
